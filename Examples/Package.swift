// swift-tools-version: 6.2
import PackageDescription

let package = Package(
    name: "Examples",
    platforms: [.macOS(.v15)],
    products: [
        .executable(name: "auth-sandbox", targets: ["auth-sandbox"]),
        .executable(name: "http-recover", targets: ["http-recover"]),
        .executable(name: "auth-client", targets: ["auth-client"]),
    ],
    dependencies: [
        .package(name: "swift-http-recovery", path: "..", traits: ["Everything"]),
        .package(url: "https://github.com/apple/swift-http-types.git", from: "1.6.0", traits: []),
        .package(url: "https://github.com/apple/swift-argument-parser.git", from: "1.5.0"),
    ],
    targets: [
        .executableTarget(
            name: "auth-sandbox",
            dependencies: [
                "ProgramVersion",
                .product(name: "AuthSandbox", package: "swift-http-recovery"),
                .product(name: "ArgumentParser", package: "swift-argument-parser"),
            ]
        ),
        .target(name: "Locking"),
        .target(name: "ProgramVersion"),
        // What the command-line clients have in common.
        .target(
            name: "CommandLineSupport",
            dependencies: [
                "Locking",
                .product(name: "ArgumentParser", package: "swift-argument-parser"),
                .product(name: "AuthRecovery", package: "swift-http-recovery"),
                .product(name: "CurlTransport", package: "swift-http-recovery"),
                .product(name: "HTTPRecovery", package: "swift-http-recovery"),
                .product(name: "HTTPRecoveryTesting", package: "swift-http-recovery"),
                .product(name: "HTTPTypes", package: "swift-http-types"),
                .product(name: "RedisRecoveryStore", package: "swift-http-recovery"),
                .product(name: "SQLiteRecoveryStore", package: "swift-http-recovery"),
            ]
        ),
        // What somebody has pasted for `explain`; a target of its own for the package's fuzz tests, which build it too.
        .target(
            name: "Transcripts",
            dependencies: [
                .product(name: "HTTPRecovery", package: "swift-http-recovery"),
                .product(name: "HTTPRecoveryTesting", package: "swift-http-recovery"),
                .product(name: "HTTPTypes", package: "swift-http-types"),
            ]
        ),
        // Another HTTP library below the client: the article "Write a transport" tells how.
        .target(
            name: "URLSessionTransport",
            dependencies: [
                "Locking",
                .product(name: "HTTPRecovery", package: "swift-http-recovery"),
                .product(name: "HTTPTypes", package: "swift-http-types"),
            ]
        ),
        .testTarget(
            name: "URLSessionTransportTests",
            dependencies: [
                "URLSessionTransport",
                .product(name: "HTTPRecovery", package: "swift-http-recovery"),
                .product(name: "HTTPRecoveryTesting", package: "swift-http-recovery"),
                .product(name: "HTTPTypes", package: "swift-http-types"),
            ]
        ),
        .executableTarget(
            name: "http-recover",
            dependencies: [
                "CommandLineSupport",
                "Locking",
                "ProgramVersion",
                .product(name: "AsyncHTTPClientTransport", package: "swift-http-recovery"),
                .product(name: "Auth0Auth", package: "swift-http-recovery"),
                .product(name: "AuthRecovery", package: "swift-http-recovery"),
                .product(name: "ClerkAuth", package: "swift-http-recovery"),
                .product(name: "CurlTransport", package: "swift-http-recovery"),
                .product(name: "FacebookAuth", package: "swift-http-recovery"),
                .product(name: "ForgeRockAuth", package: "swift-http-recovery"),
                .product(name: "HTTPRecovery", package: "swift-http-recovery"),
                .product(name: "HTTPRecoveryTesting", package: "swift-http-recovery"),
                .product(name: "HTTPTypes", package: "swift-http-types"),
                .product(name: "OktaAuth", package: "swift-http-recovery"),
                .product(name: "ArgumentParser", package: "swift-argument-parser"),
            ]
        ),
        .executableTarget(
            name: "auth-client",
            dependencies: [
                "CommandLineSupport",
                "Locking",
                "ProgramVersion",
                "Transcripts",
                .product(name: "Auth0Auth", package: "swift-http-recovery"),
                .product(name: "AuthRecovery", package: "swift-http-recovery"),
                .product(name: "ClerkAuth", package: "swift-http-recovery"),
                .product(name: "CurlTransport", package: "swift-http-recovery"),
                .product(name: "FacebookAuth", package: "swift-http-recovery"),
                .product(name: "ForgeRockAuth", package: "swift-http-recovery"),
                .product(name: "HTTPRecovery", package: "swift-http-recovery"),
                .product(name: "HTTPTypes", package: "swift-http-types"),
                .product(name: "OktaAuth", package: "swift-http-recovery"),
                .product(name: "WebAuthnTesting", package: "swift-http-recovery"),
                .product(name: "ArgumentParser", package: "swift-argument-parser"),
            ]
        ),
        .testTarget(
            name: "CommandLineSupportTests",
            dependencies: [
                "CommandLineSupport",
                "Locking",
                "Transcripts",
                // Built for the end-to-end tests, which run it.
                "http-recover",
                .product(name: "CurlTransport", package: "swift-http-recovery"),
                .product(name: "HTTPRecovery", package: "swift-http-recovery"),
                .product(name: "HTTPRecoveryTesting", package: "swift-http-recovery"),
                .product(name: "HTTPTypes", package: "swift-http-types"),
            ]
        ),
        // What the end-to-end tests kill in the middle of a renewal.
        .executableTarget(
            name: "renewal-worker",
            dependencies: [
                "CommandLineSupport",
                .product(name: "AuthRecovery", package: "swift-http-recovery"),
                .product(name: "CurlTransport", package: "swift-http-recovery"),
                .product(name: "HTTPRecovery", package: "swift-http-recovery"),
                .product(name: "HTTPTypes", package: "swift-http-types"),
                .product(name: "ArgumentParser", package: "swift-argument-parser"),
            ],
            path: "Tests/renewal-worker"
        ),
        // Runs the built programs against a sandbox.
        .testTarget(
            name: "EndToEndTests",
            dependencies: [
                "auth-client",
                "auth-sandbox",
                "http-recover",
                "renewal-worker",
                "CommandLineSupport",
                "Locking",
                .product(name: "Auth0Auth", package: "swift-http-recovery"),
                .product(name: "AuthRecovery", package: "swift-http-recovery"),
                .product(name: "AuthSandbox", package: "swift-http-recovery"),
                .product(name: "ClerkAuth", package: "swift-http-recovery"),
                .product(name: "CurlTransport", package: "swift-http-recovery"),
                .product(name: "FacebookAuth", package: "swift-http-recovery"),
                .product(name: "ForgeRockAuth", package: "swift-http-recovery"),
                .product(name: "HTTPRecovery", package: "swift-http-recovery"),
                .product(name: "HTTPRecoveryTesting", package: "swift-http-recovery"),
                .product(name: "HTTPTypes", package: "swift-http-types"),
                .product(name: "OktaAuth", package: "swift-http-recovery"),
                // Registers and signs for real in the WebAuthn tests.
                .product(name: "WebAuthnTesting", package: "swift-http-recovery"),
            ]
        ),
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
