import HTTPRecovery
import Testing

@Suite("Arithmetic that ends at the last number")
struct SaturatingTests {
    @Test(
        arguments: [
            (1, 2, 3, -1), (.max, 1, .max, .max - 1), (.min, -1, .min, .min + 1), (.min, 1, .min + 1, .min),
            (.max, -1, .max - 1, .max), (0, .min, .min, .max), (.max, .min, -1, .max),
        ] as [(Int64, Int64, Int64, Int64)]
    )
    func numbersEndAtTheLast(first: Int64, second: Int64, sum: Int64, difference: Int64) {
        #expect(first.saturatingAdding(second) == sum)
        #expect(first.saturatingSubtracting(second) == difference)
    }

    @Test(
        arguments: [
            (.zero, 0, 0), (.nanoseconds(1), 0, 1), (.milliseconds(1), 1, 1), (.microseconds(1001), 1, 2),
            (.microseconds(-1), 0, 0), (.microseconds(-1500), -1, -1), (.seconds(2), 2000, 2000),
            (.seconds(Int64.max), .max, .max), (.seconds(Int64.min), .min, .min),
        ] as [(Duration, Int64, Int64)]
    )
    func durationsAreCountedInUnits(duration: Duration, whole: Int64, roundedUp: Int64) {
        #expect(duration.whole(.milliseconds(1)) == whole)
        #expect(duration.roundedUp(to: .milliseconds(1)) == roundedUp)
    }

    @Test(arguments: [(0, 3, "000"), (7, 1, "7"), (42, 4, "0042"), (12_345, 2, "12345")])
    func numbersHaveZerosInFront(number: Int, width: Int, text: String) {
        #expect(number.padded(to: width) == text)
    }
}
