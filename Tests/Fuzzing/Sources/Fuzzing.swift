import CFuzzer

/// Feeds libFuzzer's inputs to one target: `Fuzzing NAME [options of libFuzzer] [directories]`, or `Fuzzing list`.
@main
enum Fuzzing {
    private static let selected = FuzzTarget.all.first { $0.name == CommandLine.arguments.dropFirst().first }

    static func main() {
        guard selected != nil, CommandLine.argc > 1 else {
            for target in FuzzTarget.all { print(target.name) }
            return
        }
        // The name of the target stands where libFuzzer expects the program's.
        var count = CommandLine.argc - 1
        var arguments = unsafe Optional(CommandLine.unsafeArgv.advanced(by: 1))
        _ = unsafe LLVMFuzzerRunDriver(&count, &arguments) { bytes, size in
            unsafe Fuzzing.selected?.run(Array(UnsafeBufferPointer(start: bytes, count: size)))
            return 0
        }
    }
}

/// What libFuzzer's own main program would call; the one above takes its place.
@_cdecl("LLVMFuzzerTestOneInput")
func ignoreInput(_ bytes: UnsafePointer<UInt8>?, _ size: Int) -> CInt { 0 }
