import HTTPRecovery

#if canImport(Glibc)
import Glibc
#elseif canImport(Musl)
import Musl
#elseif canImport(Darwin)
import Darwin
#endif

/// A lock on a file, held until it is given back or its holder is gone.
final class FileLease: TokenLease {
    /// The open file; nil when the lease was given back.
    private let descriptor: Locked<Int32?>
    let fence: UInt64

    /// Takes over an open file that is locked, and counts its grants in it.
    init(descriptor: Int32) {
        self.descriptor = Locked(descriptor)
        var digits = [UInt8](repeating: 0, count: 24)
        let count = unsafe digits.withUnsafeMutableBytes { unsafe pread(descriptor, $0.baseAddress, $0.count, 0) }
        let text = String(decoding: digits.prefix(max(0, count)), as: UTF8.self)
        let last = UInt64(text.prefix { $0.isNumber }) ?? 0
        fence = last &+ 1
        let next = Array("\(fence)\n".utf8)
        // Where the count cannot be written, the lock holds all the same.
        _ = unsafe next.withUnsafeBytes { unsafe pwrite(descriptor, $0.baseAddress, $0.count, 0) }
    }

    deinit {
        giveBack()
    }

    func extend(for duration: Duration) async -> Bool {
        descriptor.withLock { $0 != nil }
    }

    func release() async {
        giveBack()
    }

    private func giveBack() {
        descriptor.withLock { descriptor in
            if let descriptor { close(descriptor) }
            descriptor = nil
        }
    }
}
