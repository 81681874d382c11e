// swift-tools-version: 6.2
import PackageDescription

let package = Package(
    name: "benchmarks",
    platforms: [.macOS(.v15)],
    dependencies: [
        .package(name: "swift-http-recovery", path: ".."),
        .package(url: "https://github.com/apple/swift-http-types.git", from: "1.6.0", traits: []),
    ],
    targets: [
        .systemLibrary(name: "CCurlBaseline", path: "Sources/CCurlBaseline", pkgConfig: "libcurl"),
        .executableTarget(
            name: "transport-bench",
            dependencies: [
                .product(name: "CurlTransport", package: "swift-http-recovery"),
                .product(name: "HTTPRecovery", package: "swift-http-recovery"),
                .product(name: "HTTPTypes", package: "swift-http-types"),
            ]
        ),
        // Counts heap allocations, by standing in front of the C library's allocator, and instructions.
        .target(name: "CCounters"),
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
                .product(name: "HTTPRecovery", package: "swift-http-recovery"),
                .product(name: "HTTPRecoveryTesting", package: "swift-http-recovery"),
            ]
        ),
        .executableTarget(name: "curl-baseline", dependencies: ["CCurlBaseline"]),
        .executableTarget(name: "bench-server"),
    ]
)
