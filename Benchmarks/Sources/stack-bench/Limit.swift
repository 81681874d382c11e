/// What the default stack may add to the bare transport.
struct Limit: Sendable {
    let name: String
    let value: any KeyPath<Cost, Double> & Sendable
    /// What was measured when the limit was written down.
    let measured: Double
    /// How much more passes, as a part of that.
    let margin: Double
    /// What it is to come down to.
    let aim: Double
    /// Whether it holds on this processor.
    var isInForce = true

    /// The most that passes.
    var most: Double { measured * (1 + margin) }

    /// The limits of `stack-bench --check`, here and nowhere else.
    ///
    /// They are there so that a change which makes every call dearer is seen. What stands here was measured by a release
    /// build of Swift 6.3.1 on x86-64; `measured` is the number that `--check` prints, and who makes a call cheaper
    /// writes the new one down. Allocations are the same in every run and hold exactly. Instructions and bytes vary by
    /// less than a thousandth from run to run; the fifth is for other C libraries and compilers. Other processors have
    /// other instructions. There is no limit for time, which is the machine's as much as the program's.
    ///
    /// The aims: 4 allocations and 4 KiB a call; and 0.7 us, which is 7,700 instructions where a nanosecond has 11.
    static let all = [
        Limit(name: "allocations", value: \.allocations, measured: 3, margin: 0, aim: 4),
        Limit(
            name: "instructions",
            value: \.instructions,
            measured: 7100,
            margin: 0.2,
            aim: 7700,
            isInForce: isX86
        ),
        Limit(name: "bytes while it waits", value: \.bytes, measured: 2300, margin: 0.2, aim: 4096),
    ]

    private static var isX86: Bool {
        #if arch(x86_64)
        true
        #else
        false
        #endif
    }
}
