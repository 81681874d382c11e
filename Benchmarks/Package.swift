// swift-tools-version: 6.2
import PackageDescription

let package = Package(
    name: "benchmarks",
    platforms: [.macOS(.v15)],
    products: [
        .library(name: "BenchKit", targets: ["BenchKit"]),
        // For LD_PRELOAD, so that allocations are counted where they are measured, and nowhere else.
        .library(name: "counters", type: .dynamic, targets: ["CCounters"]),
        // For LD_PRELOAD too: a name server that does not answer, without touching the system.
        .library(name: "slow-names", type: .dynamic, targets: ["CSlowNames"]),
    ],
    dependencies: [
        // Built as for the examples: what is measured uses nothing of it.
        .package(name: "swift-http-recovery", path: "..", traits: ["Everything"]),
        .package(url: "https://github.com/apple/swift-http-types.git", from: "1.6.0", traits: []),
    ],
    targets: [
        .systemLibrary(name: "CCurlBaseline", path: "Sources/CCurlBaseline", pkgConfig: "libcurl"),
        // What a process has used, for C and Swift.
        .target(name: "CMeasure"),
        // What the contestants have in common: the command line, the scenarios, the measuring.
        .target(name: "BenchKit", dependencies: ["CMeasure"]),
        .executableTarget(name: "curl-baseline", dependencies: ["CCurlBaseline", "CMeasure"]),
        .executableTarget(
            name: "transport-bench",
            dependencies: [
                "BenchKit",
                .product(name: "CurlTransport", package: "swift-http-recovery"),
                .product(name: "HTTPRecovery", package: "swift-http-recovery"),
                .product(name: "HTTPTypes", package: "swift-http-types"),
            ]
        ),
        // Counts heap allocations, by standing in front of the C library's allocator, and instructions.
        .target(name: "CCounters"),
        .target(name: "CSlowNames"),
        .executableTarget(
            name: "stack-bench",
            dependencies: [
                "CCounters",
                .product(name: "HTTPRecovery", package: "swift-http-recovery"),
                .product(name: "HTTPTypes", package: "swift-http-types"),
            ]
        ),
        // A thousand clients and a service that fails, on virtual time.
        .executableTarget(
            name: "storm-lab",
            dependencies: [
                "Plots",
                .product(name: "HTTPRecovery", package: "swift-http-recovery"),
                .product(name: "HTTPRecoveryTesting", package: "swift-http-recovery"),
            ]
        ),
        // What was measured as a table with the limits, JSON, Markdown and a plot.
        .executableTarget(
            name: "bench-table",
            dependencies: ["CMeasure", "Plots", .product(name: "HTTPRecovery", package: "swift-http-recovery")]
        ),
        .target(name: "Plots"),
        .executableTarget(name: "bench-server"),
    ]
)
