// swift-tools-version: 6.2
import PackageDescription

// A package of its own: nobody else has to build a web server.
let package = Package(
    name: "WebBackend",
    platforms: [.macOS(.v15)],
    products: [
        .executable(name: "sign-in-backend", targets: ["sign-in-backend"]),
        .executable(name: "resource-gateway", targets: ["resource-gateway"]),
        .executable(name: "service-trials", targets: ["service-trials"]),
    ],
    dependencies: [
        .package(name: "swift-http-recovery", path: "../..", traits: ["Everything"]),
        .package(url: "https://github.com/apple/swift-http-types.git", from: "1.6.0", traits: []),
        .package(url: "https://github.com/apple/swift-argument-parser.git", from: "1.5.0"),
        .package(url: "https://github.com/apple/swift-crypto.git", "3.12.0"..<"5.0.0"),
        .package(url: "https://github.com/hummingbird-project/hummingbird.git", from: "2.28.0"),
        .package(url: "https://github.com/apple/swift-log.git", from: "1.6.0"),
        .package(url: "https://github.com/apple/swift-metrics.git", from: "2.5.0"),
        // A file that is read again when it has changed.
        .package(
            url: "https://github.com/apple/swift-configuration.git",
            from: "1.0.0",
            traits: [.defaults, "Reloading"]
        ),
        .package(url: "https://github.com/apple/swift-system.git", from: "1.5.0"),
        .package(url: "https://github.com/swift-server/swift-service-lifecycle.git", from: "2.6.0"),
        // What the test of names imports beside them.
        .package(url: "https://github.com/apple/swift-nio.git", from: "2.80.0"),
        .package(url: "https://github.com/swift-server/async-http-client.git", from: "1.26.0"),
    ],
    targets: [
        .target(
            name: "SignInBackend",
            dependencies: [
                .product(name: "AuthCryptography", package: "swift-http-recovery"),
                .product(name: "AuthRecovery", package: "swift-http-recovery"),
                .product(name: "ClerkAuth", package: "swift-http-recovery"),
                .product(name: "Crypto", package: "swift-crypto"),
                .product(name: "HTTPRecovery", package: "swift-http-recovery"),
                .product(name: "HTTPTypes", package: "swift-http-types"),
                .product(name: "Hummingbird", package: "hummingbird"),
            ]
        ),
        .executableTarget(
            name: "sign-in-backend",
            dependencies: [
                "SignInBackend",
                .product(name: "ArgumentParser", package: "swift-argument-parser"),
                .product(name: "AuthCryptography", package: "swift-http-recovery"),
                .product(name: "CurlTransport", package: "swift-http-recovery"),
                .product(name: "HTTPRecovery", package: "swift-http-recovery"),
                .product(name: "Hummingbird", package: "hummingbird"),
                .product(name: "RedisRecoveryStore", package: "swift-http-recovery"),
                .product(name: "SQLiteRecoveryStore", package: "swift-http-recovery"),
                .product(name: "ServiceLifecycle", package: "swift-service-lifecycle"),
                .product(name: "UnixSignals", package: "swift-service-lifecycle"),
            ]
        ),
        .target(
            name: "ResourceGateway",
            dependencies: [
                .product(name: "AuthCryptography", package: "swift-http-recovery"),
                .product(name: "AuthRecovery", package: "swift-http-recovery"),
                .product(name: "Configuration", package: "swift-configuration"),
                .product(name: "CoreMetrics", package: "swift-metrics"),
                .product(name: "CurlTransport", package: "swift-http-recovery"),
                .product(name: "HTTPRecovery", package: "swift-http-recovery"),
                .product(name: "HTTPTypes", package: "swift-http-types"),
                .product(name: "Hummingbird", package: "hummingbird"),
                .product(name: "Logging", package: "swift-log"),
                .product(name: "RecoveryObservability", package: "swift-http-recovery"),
                .product(name: "RecoveryService", package: "swift-http-recovery"),
                .product(name: "RedisRecoveryStore", package: "swift-http-recovery"),
                .product(name: "SQLiteRecoveryStore", package: "swift-http-recovery"),
                .product(name: "ServiceLifecycle", package: "swift-service-lifecycle"),
                .product(name: "UnixSignals", package: "swift-service-lifecycle"),
            ]
        ),
        .executableTarget(
            name: "resource-gateway",
            dependencies: [
                "ResourceGateway",
                .product(name: "ArgumentParser", package: "swift-argument-parser"),
                .product(name: "Configuration", package: "swift-configuration"),
                .product(name: "CurlTransport", package: "swift-http-recovery"),
                .product(name: "HTTPRecovery", package: "swift-http-recovery"),
                .product(name: "HTTPTypes", package: "swift-http-types"),
                .product(name: "Logging", package: "swift-log"),
                .product(name: "Metrics", package: "swift-metrics"),
                .product(name: "ServiceLifecycle", package: "swift-service-lifecycle"),
                .product(name: "SystemPackage", package: "swift-system"),
            ]
        ),
        // Starts the services before a sandbox, for their tests and their trials.
        .target(
            name: "ServiceTrials",
            dependencies: [
                .product(name: "AuthSandbox", package: "swift-http-recovery"),
                .product(name: "CurlTransport", package: "swift-http-recovery"),
                .product(name: "HTTPRecovery", package: "swift-http-recovery"),
                .product(name: "HTTPTypes", package: "swift-http-types"),
            ]
        ),
        .executableTarget(
            name: "service-trials",
            dependencies: [
                "ServiceTrials",
                .product(name: "ArgumentParser", package: "swift-argument-parser"),
                .product(name: "AuthSandbox", package: "swift-http-recovery"),
                .product(name: "HTTPRecovery", package: "swift-http-recovery"),
                .product(name: "AuthRecovery", package: "swift-http-recovery"),
                .product(name: "CurlTransport", package: "swift-http-recovery"),
                .product(name: "RedisRecoveryStore", package: "swift-http-recovery"),
                .product(name: "HTTPTypes", package: "swift-http-types"),
            ]
        ),
        .testTarget(
            name: "ResourceGatewayTests",
            dependencies: [
                "ResourceGateway", "ServiceTrials", "resource-gateway",
                .product(name: "AuthSandbox", package: "swift-http-recovery"),
                .product(name: "Configuration", package: "swift-configuration"),
                .product(name: "CurlTransport", package: "swift-http-recovery"),
                .product(name: "HTTPRecovery", package: "swift-http-recovery"),
                .product(name: "Logging", package: "swift-log"),
                .product(name: "Metrics", package: "swift-metrics"),
                .product(name: "RecoveryObservability", package: "swift-http-recovery"),
                .product(name: "RecoveryService", package: "swift-http-recovery"),
                .product(name: "ServiceLifecycle", package: "swift-service-lifecycle"),
                .product(name: "SystemPackage", package: "swift-system"),
            ]
        ),
        .testTarget(
            name: "SignInBackendTests",
            dependencies: [
                "ServiceTrials", "SignInBackend", "sign-in-backend",
                .product(name: "AsyncHTTPClient", package: "async-http-client"),
                .product(name: "Auth0Auth", package: "swift-http-recovery"),
                .product(name: "AuthCryptography", package: "swift-http-recovery"),
                .product(name: "AuthRecovery", package: "swift-http-recovery"),
                .product(name: "AuthSandbox", package: "swift-http-recovery"),
                .product(name: "ClerkAuth", package: "swift-http-recovery"),
                .product(name: "CurlTransport", package: "swift-http-recovery"),
                .product(name: "FacebookAuth", package: "swift-http-recovery"),
                .product(name: "ForgeRockAuth", package: "swift-http-recovery"),
                .product(name: "HTTPRecovery", package: "swift-http-recovery"),
                .product(name: "HTTPRecoveryFoundation", package: "swift-http-recovery"),
                .product(name: "HTTPRecoveryTesting", package: "swift-http-recovery"),
                .product(name: "HTTPTypes", package: "swift-http-types"),
                .product(name: "Hummingbird", package: "hummingbird"),
                .product(name: "Logging", package: "swift-log"),
                .product(name: "NIOCore", package: "swift-nio"),
                .product(name: "OktaAuth", package: "swift-http-recovery"),
                .product(name: "RecoveryObservability", package: "swift-http-recovery"),
                .product(name: "RecoveryService", package: "swift-http-recovery"),
                .product(name: "RedisRecoveryStore", package: "swift-http-recovery"),
                .product(name: "SQLiteRecoveryStore", package: "swift-http-recovery"),
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
