// swift-tools-version: 6.2
import PackageDescription

let package = Package(
    name: "Examples",
    platforms: [.macOS(.v15)],
    products: [
        .library(name: "AuthSandbox", targets: ["AuthSandbox"]),
        .executable(name: "auth-sandbox", targets: ["auth-sandbox"]),
    ],
    dependencies: [
        .package(url: "https://github.com/apple/swift-argument-parser.git", from: "1.5.0")
    ],
    targets: [
        // Needs the C library alone: no Foundation, no NIO. A test that links it starts in milliseconds.
        .target(name: "AuthSandbox", dependencies: ["CSandboxEvents"]),
        .systemLibrary(name: "CSandboxEvents"),
        .executableTarget(
            name: "auth-sandbox",
            dependencies: [
                "AuthSandbox",
                .product(name: "ArgumentParser", package: "swift-argument-parser"),
            ]
        ),
        .testTarget(name: "AuthSandboxTests", dependencies: ["AuthSandbox"]),
    ]
)

for target in package.targets where target.type != .system && target.type != .plugin {
    target.swiftSettings =
        (target.swiftSettings ?? []) + [
            .swiftLanguageMode(.v6),
            .treatAllWarnings(as: .error),
            .strictMemorySafety(),
            .enableUpcomingFeature("ExistentialAny"),
            .enableUpcomingFeature("MemberImportVisibility"),
            .enableUpcomingFeature("InternalImportsByDefault"),
            .enableUpcomingFeature("NonisolatedNonsendingByDefault"),
        ]
}
