/// A layer that may let a call go straight to its attempt.
///
/// Where it does not, it takes ``CallContext/isStraight`` from the context that it hands on.
protocol StraightLayer: ClientLayer {
    /// Whether it can: then it does nothing after the answer either that stands in a history.
    var isStraight: Bool { get }
}
