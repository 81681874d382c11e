/// Keeps a value aside, so that the one who has it stays small.
///
/// What is rare and large stands in one: every layer and every waiting call copies what holds it.
final class Box<Value: Sendable>: Sendable {
    let value: Value

    init(_ value: Value) {
        self.value = value
    }
}
