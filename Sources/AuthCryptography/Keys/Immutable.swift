#if Cryptography
/// A key as a value that tasks may share.
///
/// Unchecked, because the keys of swift-crypto 3 do not say that they are `Sendable`, as those of swift-crypto 4 do; in
/// both they are values that nothing changes.
struct Immutable<Key>: @unchecked Sendable {
    let key: Key

    init(_ key: Key) {
        self.key = key
    }
}
#endif
