// swift-tools-version: 6.2
import PackageDescription

// What the transport is compared with, apart from the benchmarks themselves: it takes minutes to build.
let package = Package(
    name: "rivals",
    platforms: [.macOS(.v15)],
    dependencies: [
        .package(name: "benchmarks", path: ".."),
        // What is compared is the same each time.
        .package(url: "https://github.com/swift-server/async-http-client.git", exact: "1.37.0"),
        .package(url: "https://github.com/apple/swift-nio.git", from: "2.81.0"),
        .package(url: "https://github.com/apple/swift-nio-ssl.git", from: "2.30.0"),
    ],
    targets: [
        .executableTarget(
            name: "ahc-bench",
            dependencies: [
                .product(name: "BenchKit", package: "benchmarks"),
                .product(name: "AsyncHTTPClient", package: "async-http-client"),
                .product(name: "NIOCore", package: "swift-nio"),
                .product(name: "NIOPosix", package: "swift-nio"),
                .product(name: "NIOSSL", package: "swift-nio-ssl"),
            ]
        ),
        // A program of its own, so that the others do without Foundation.
        .executableTarget(
            name: "urlsession-bench",
            dependencies: [.product(name: "BenchKit", package: "benchmarks")]
        ),
    ]
)
