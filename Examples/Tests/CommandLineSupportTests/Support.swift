import Glibc
import Testing

/// Runs the function with a directory that is removed afterwards.
func withTemporaryDirectory(_ body: (String) async throws -> Void) async throws {
    var template = Array("/tmp/http-recover-test-XXXXXX".utf8CString)
    // The system fills in the name.
    let path = unsafe template.withUnsafeMutableBufferPointer { buffer -> String? in
        guard let base = buffer.baseAddress, unsafe mkdtemp(base) != nil else { return nil }
        return unsafe String(cString: base)
    }
    let directory = try #require(path)
    defer {
        for name in names(in: directory) { unsafe unlink(directory + "/" + name) }
        unsafe rmdir(directory)
    }
    try await body(directory)
}

/// The names of the files in a directory.
func names(in directory: String) -> [String] {
    guard let handle = unsafe opendir(directory) else { return [] }
    defer { unsafe closedir(handle) }
    var names: [String] = []
    while let entry = unsafe readdir(handle) {
        // The entry is valid until the next call; the name is copied.
        let name = unsafe withUnsafePointer(to: &entry.pointee.d_name) { pointer in
            unsafe pointer.withMemoryRebound(to: CChar.self, capacity: 256) { unsafe String(cString: $0) }
        }
        if name != ".", name != ".." { names.append(name) }
    }
    return names.sorted()
}

/// The contents of a file as text.
func contents(of path: String) -> String {
    let descriptor = unsafe open(path, O_RDONLY)
    guard descriptor >= 0 else { return "" }
    defer { close(descriptor) }
    return String(decoding: readAll(descriptor), as: UTF8.self)
}

/// Writes a text to a file.
func write(_ text: String, to file: String) throws {
    let handle = unsafe try #require(fopen(file, "w"))
    unsafe fputs(text, handle)
    unsafe fclose(handle)
}

/// All bytes until the end.
func readAll(_ descriptor: Int32) -> [UInt8] {
    var bytes: [UInt8] = []
    var buffer = [UInt8](repeating: 0, count: 65_536)
    while true {
        let count = unsafe read(descriptor, &buffer, buffer.count)
        if count < 0, errno == EINTR { continue }
        guard count > 0 else { return bytes }
        bytes.append(contentsOf: buffer[..<count])
    }
}
