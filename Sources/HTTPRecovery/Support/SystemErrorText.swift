#if canImport(Glibc)
import Glibc
#elseif canImport(Musl)
import Musl
#elseif canImport(Darwin)
import Darwin
#endif

extension Int32 {
    /// What the system calls an `errno`, with the number, which is the same in each language.
    package var systemErrorText: String {
        guard let text = unsafe strerror(self) else { return "errno \(self)" }
        return unsafe "\(String(cString: text)), errno \(self)"
    }
}
