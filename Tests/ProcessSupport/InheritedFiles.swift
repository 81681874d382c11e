package import Glibc

/// What a program that is started inherits beyond its standard streams.
///
/// SwiftNIO's sockets are inherited, for example, and stay open for as long as the program runs.
package enum InheritedFiles {
    private typealias AddCloseFrom = @convention(c) (UnsafeMutablePointer<posix_spawn_file_actions_t>, CInt) -> CInt

    /// glibc has it from version 2.34 on; the compiler does not import it.
    private static let addCloseFrom: AddCloseFrom? = {
        guard let symbol = unsafe dlsym(nil, "posix_spawn_file_actions_addclosefrom_np") else { return nil }
        // Its declaration in <spawn.h> is this type's.
        return unsafe unsafeBitCast(symbol, to: AddCloseFrom.self)
    }()

    /// Lets the program inherit its standard streams and nothing else; to be called after all other actions.
    package static func close(in actions: UnsafeMutablePointer<posix_spawn_file_actions_t>) {
        if let addCloseFrom = unsafe addCloseFrom { _ = unsafe addCloseFrom(actions, 3) }
    }
}
