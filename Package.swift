// swift-tools-version: 6.2
import PackageDescription

extension Target.Dependency {
    /// A product of another package, linked only with the trait.
    static func product(_ name: String, of package: String, trait: String) -> Target.Dependency {
        .product(name: name, package: package, condition: .when(traits: [trait]))
    }
}

extension Package.Dependency {
    /// The name by which targets call the package; nil for one that is fetched otherwise than by its address.
    var name: String? {
        guard case .sourceControl(_, let location, _) = kind else { return nil }
        return location.split(separator: "/").last.map { String($0.dropLast(".git".count)) }
    }
}

let package = Package(
    name: "swift-http-recovery",
    platforms: [.macOS(.v15)],
    products: [
        .library(name: "HTTPRecovery", targets: ["HTTPRecovery"]),
        .library(name: "HTTPRecoveryFoundation", targets: ["HTTPRecoveryFoundation"]),
        .library(name: "CurlTransport", targets: ["CurlTransport"]),
        .library(name: "AsyncHTTPClientTransport", targets: ["AsyncHTTPClientTransport"]),
        .library(name: "AuthRecovery", targets: ["AuthRecovery"]),
        .library(name: "Auth0Auth", targets: ["Auth0Auth"]),
        .library(name: "ClerkAuth", targets: ["ClerkAuth"]),
        .library(name: "FacebookAuth", targets: ["FacebookAuth"]),
        .library(name: "ForgeRockAuth", targets: ["ForgeRockAuth"]),
        .library(name: "OktaAuth", targets: ["OktaAuth"]),
        .library(name: "SQLiteRecoveryStore", targets: ["SQLiteRecoveryStore"]),
        .library(name: "RedisRecoveryStore", targets: ["RedisRecoveryStore"]),
        .library(name: "AuthCryptography", targets: ["AuthCryptography"]),
        .library(name: "RecoveryObservability", targets: ["RecoveryObservability"]),
        .library(name: "RecoveryService", targets: ["RecoveryService"]),
        .library(name: "OpenAPIRecovery", targets: ["OpenAPIRecovery"]),
        .library(name: "HTTPRecoveryTesting", targets: ["HTTPRecoveryTesting"]),
        .library(name: "WebAuthnTesting", targets: ["WebAuthnTesting"]),
        .library(name: "AuthSandbox", targets: ["AuthSandbox"]),
    ],
    // What is heavy, or needs a system library of its own, is fetched and built only for those who ask for it.
    traits: [
        .trait(name: "AsyncHTTPClient", description: "A transport on AsyncHTTPClient, for those who run on SwiftNIO."),
        .trait(name: "SQLite", description: "State shared by the processes of one machine (GRDB, libsqlite3-dev)."),
        .trait(name: "Redis", description: "State shared by a fleet: Redis or Valkey (libhiredis-dev, libssl-dev)."),
        .trait(
            name: "Cryptography",
            description: "Sealing, private_key_jwt, DPoP, app secret proofs, a software authenticator (swift-crypto)."
        ),
        .trait(
            name: "Observability",
            description: "Logs, metrics and spans (swift-log, swift-metrics, swift-distributed-tracing)."
        ),
        .trait(name: "ServiceLifecycle", description: "Graceful shutdown of a service (swift-service-lifecycle)."),
        .trait(name: "Configuration", description: "Policies from a configuration (swift-configuration)."),
        .trait(name: "OpenAPI", description: "Recovery below generated clients (swift-openapi-runtime)."),
        // One name for what is built here with all of it, so that it is built once: see Scripts/environment.
        .trait(
            name: "Everything",
            description: "All of the above but OpenAPI.",
            enabledTraits: [
                "AsyncHTTPClient", "SQLite", "Redis", "Cryptography", "Observability", "ServiceLifecycle",
                "Configuration",
            ]
        ),
    ],
    dependencies: [
        // Without traits: the core does not need URL, and so not a line of Foundation.
        .package(url: "https://github.com/apple/swift-http-types.git", from: "1.6.0", traits: []),
        .package(url: "https://github.com/apple/swift-http-structured-headers.git", from: "1.5.0"),
        .package(url: "https://github.com/groue/GRDB.swift.git", from: "7.0.0"),
        .package(url: "https://github.com/apple/swift-crypto.git", "3.12.0"..<"5.0.0"),
        .package(url: "https://github.com/swift-server/async-http-client.git", from: "1.37.0", traits: []),
        .package(url: "https://github.com/apple/swift-log.git", from: "1.6.0"),
        .package(url: "https://github.com/apple/swift-metrics.git", from: "2.5.0"),
        .package(url: "https://github.com/apple/swift-distributed-tracing.git", from: "1.2.0"),
        .package(url: "https://github.com/apple/swift-service-context.git", from: "1.1.0"),
        .package(url: "https://github.com/swift-server/swift-service-lifecycle.git", from: "2.6.0"),
        .package(url: "https://github.com/apple/swift-configuration.git", from: "1.0.0"),
        .package(url: "https://github.com/apple/swift-openapi-runtime.git", from: "1.8.0"),
        .package(url: "https://github.com/apple/swift-nio.git", from: "2.100.0"),
        .package(url: "https://github.com/apple/swift-nio-ssl.git", from: "2.30.0"),
        .package(url: "https://github.com/apple/swift-nio-http2.git", from: "1.36.0"),
        .package(url: "https://github.com/apple/swift-nio-extras.git", from: "1.26.0"),
    ],
    targets: [
        .target(
            name: "HTTPRecovery",
            dependencies: [
                .product(name: "HTTPTypes", package: "swift-http-types"),
                .product(name: "RawStructuredFieldValues", package: "swift-http-structured-headers"),
            ]
        ),
        .target(
            name: "HTTPRecoveryFoundation",
            dependencies: ["HTTPRecovery", .product(name: "HTTPTypes", package: "swift-http-types")]
        ),
        .systemLibrary(
            name: "CCurl",
            pkgConfig: "libcurl",
            providers: [.apt(["libcurl4-openssl-dev"]), .brew(["curl"])]
        ),
        .target(
            name: "CurlTransport",
            dependencies: ["HTTPRecovery", "CCurl", .product(name: "HTTPTypes", package: "swift-http-types")]
        ),
        .target(
            name: "AsyncHTTPClientTransport",
            dependencies: [
                "HTTPRecovery", .product(name: "HTTPTypes", package: "swift-http-types"),
                .product("AsyncHTTPClient", of: "async-http-client", trait: "AsyncHTTPClient"),
                .product("NIOCore", of: "swift-nio", trait: "AsyncHTTPClient"),
                .product("NIOHTTP1", of: "swift-nio", trait: "AsyncHTTPClient"),
                .product("NIOPosix", of: "swift-nio", trait: "AsyncHTTPClient"),
                .product("NIOSSL", of: "swift-nio-ssl", trait: "AsyncHTTPClient"),
                .product("NIOHTTP2", of: "swift-nio-http2", trait: "AsyncHTTPClient"),
                .product("NIOHPACK", of: "swift-nio-http2", trait: "AsyncHTTPClient"),
                .product("NIOHTTPCompression", of: "swift-nio-extras", trait: "AsyncHTTPClient"),
            ]
        ),
        .target(
            name: "AuthRecovery",
            dependencies: ["HTTPRecovery", .product(name: "HTTPTypes", package: "swift-http-types")]
        ),
        .target(
            name: "Auth0Auth",
            dependencies: [
                "AuthRecovery", "HTTPRecovery", .product(name: "HTTPTypes", package: "swift-http-types"),
            ]
        ),
        .target(
            name: "ClerkAuth",
            dependencies: [
                "AuthRecovery", "HTTPRecovery", .product(name: "HTTPTypes", package: "swift-http-types"),
            ]
        ),
        .target(
            name: "FacebookAuth",
            dependencies: [
                "AuthRecovery", "HTTPRecovery", .product(name: "HTTPTypes", package: "swift-http-types"),
                .product("Crypto", of: "swift-crypto", trait: "Cryptography"),
            ]
        ),
        .target(
            name: "ForgeRockAuth",
            dependencies: [
                "AuthRecovery", "HTTPRecovery", .product(name: "HTTPTypes", package: "swift-http-types"),
            ]
        ),
        .target(
            name: "OktaAuth",
            dependencies: [
                "AuthRecovery", "HTTPRecovery", .product(name: "HTTPTypes", package: "swift-http-types"),
            ]
        ),
        .target(
            name: "SQLiteRecoveryStore",
            dependencies: [
                "HTTPRecovery", .product("GRDB", of: "GRDB.swift", trait: "SQLite"),
            ]
        ),
        .systemLibrary(
            name: "CHiredis",
            pkgConfig: "hiredis",
            providers: [.apt(["libhiredis-dev"]), .brew(["hiredis"])]
        ),
        .systemLibrary(
            name: "COpenSSL",
            pkgConfig: "openssl",
            providers: [.apt(["libssl-dev"]), .brew(["openssl@3"])]
        ),
        .target(
            name: "RedisRecoveryStore",
            dependencies: [
                "HTTPRecovery", .target(name: "CHiredis", condition: .when(traits: ["Redis"])),
                .target(name: "COpenSSL", condition: .when(traits: ["Redis"])),
            ]
        ),
        .target(
            name: "AuthCryptography",
            dependencies: [
                "AuthRecovery", "HTTPRecovery", .product(name: "HTTPTypes", package: "swift-http-types"),
                .product("Crypto", of: "swift-crypto", trait: "Cryptography"),
                // RSA. The name is that of both major versions.
                .product("_CryptoExtras", of: "swift-crypto", trait: "Cryptography"),
            ]
        ),
        .target(
            name: "RecoveryObservability",
            dependencies: [
                "HTTPRecovery", .product(name: "HTTPTypes", package: "swift-http-types"),
                .product("Logging", of: "swift-log", trait: "Observability"),
                .product("Metrics", of: "swift-metrics", trait: "Observability"),
                .product("Tracing", of: "swift-distributed-tracing", trait: "Observability"),
                .product("ServiceContextModule", of: "swift-service-context", trait: "Observability"),
            ]
        ),
        .target(
            name: "RecoveryService",
            dependencies: [
                "AuthRecovery", "HTTPRecovery",
                .product("ServiceLifecycle", of: "swift-service-lifecycle", trait: "ServiceLifecycle"),
                .product("Configuration", of: "swift-configuration", trait: "Configuration"),
            ]
        ),
        .target(
            name: "OpenAPIRecovery",
            dependencies: [
                "HTTPRecovery", .product(name: "HTTPTypes", package: "swift-http-types"),
                .target(name: "RecoveryObservability", condition: .when(traits: ["Observability"])),
                .product("OpenAPIRuntime", of: "swift-openapi-runtime", trait: "OpenAPI"),
                .product("ServiceContextModule", of: "swift-service-context", trait: "Observability"),
            ]
        ),
        .target(
            name: "HTTPRecoveryTesting",
            dependencies: ["HTTPRecovery", .product(name: "HTTPTypes", package: "swift-http-types")]
        ),
        .target(
            name: "WebAuthnTesting",
            dependencies: [
                "AuthRecovery", "HTTPRecovery",
                .product("Crypto", of: "swift-crypto", trait: "Cryptography"),
            ]
        ),
        .target(
            name: "AuthSandbox",
            dependencies: ["HTTPRecovery", "HTTPRecoveryTesting"],
            // In the code, since a bundle would need Foundation and a place beside the program.
            resources: [
                .embedInCode("Page/page.html"), .embedInCode("Page/page.css"), .embedInCode("Page/page.js"),
            ]
        ),
        .testTarget(
            name: "HTTPRecoveryTests",
            dependencies: [
                "HTTPRecovery", "HTTPRecoveryTesting", .product(name: "HTTPTypes", package: "swift-http-types"),
            ]
        ),
        .testTarget(
            name: "HTTPRecoveryFoundationTests",
            dependencies: [
                "HTTPRecoveryFoundation", "HTTPRecovery", "HTTPRecoveryTesting",
                .product(name: "HTTPTypes", package: "swift-http-types"),
            ]
        ),
        .testTarget(
            name: "CurlTransportTests",
            dependencies: [
                "CurlTransport", "HTTPRecovery", "HTTPRecoveryTesting", "ProcessSupport",
                .product(name: "HTTPTypes", package: "swift-http-types"),
            ],
            // Names that only tests know are looked up by the tests, for libcurl too, and they see what it sends.
            linkerSettings: [
                .unsafeFlags([
                    "-Xlinker", "--export-dynamic-symbol=getaddrinfo", "-Xlinker", "--export-dynamic-symbol=send",
                ])
            ]
        ),
        .testTarget(
            name: "AsyncHTTPClientTransportTests",
            dependencies: [
                "AsyncHTTPClientTransport", "HTTPRecovery", "HTTPRecoveryTesting", "ProcessSupport",
                .product(name: "HTTPTypes", package: "swift-http-types"),
                .product("NIOCore", of: "swift-nio", trait: "AsyncHTTPClient"),
                .product("NIOPosix", of: "swift-nio", trait: "AsyncHTTPClient"),
                .product("NIOSSL", of: "swift-nio-ssl", trait: "AsyncHTTPClient"),
                .product("NIOHTTP2", of: "swift-nio-http2", trait: "AsyncHTTPClient"),
                .product("AsyncHTTPClient", of: "async-http-client", trait: "AsyncHTTPClient"),
                .product("Tracing", of: "swift-distributed-tracing", trait: "AsyncHTTPClient"),
                .product("InMemoryTracing", of: "swift-distributed-tracing", trait: "AsyncHTTPClient"),
            ]
        ),
        .testTarget(
            name: "AuthRecoveryTests",
            dependencies: [
                "AuthRecovery", "HTTPRecovery", "HTTPRecoveryTesting", "SignInSupport", "ProcessSupport",
                .product(name: "HTTPTypes", package: "swift-http-types"),
            ]
        ),
        .testTarget(
            name: "SQLiteRecoveryStoreTests",
            dependencies: [
                "SQLiteRecoveryStore", "HTTPRecovery", "HTTPRecoveryTesting", "ProcessSupport", "StoreWorker",
                .product("GRDB", of: "GRDB.swift", trait: "SQLite"),
                .product(name: "HTTPTypes", package: "swift-http-types"),
            ]
        ),
        // What tests run as processes of their own, and how they do it; no products.
        .target(name: "ProcessSupport", dependencies: ["HTTPRecovery"], path: "Tests/ProcessSupport"),
        .target(
            name: "SignInSupport",
            dependencies: [
                "AuthRecovery", "HTTPRecovery", "HTTPRecoveryTesting",
                .product(name: "HTTPTypes", package: "swift-http-types"),
            ],
            path: "Tests/SignInSupport"
        ),
        .executableTarget(
            name: "StoreWorker",
            dependencies: ["HTTPRecovery", "RedisRecoveryStore", "SQLiteRecoveryStore"],
            path: "Tests/StoreWorker"
        ),
        .testTarget(
            name: "RedisRecoveryStoreTests",
            dependencies: [
                "RedisRecoveryStore", "HTTPRecovery", "HTTPRecoveryTesting", "ProcessSupport", "StoreWorker",
                .target(name: "CHiredis", condition: .when(traits: ["Redis"])),
                .product(name: "HTTPTypes", package: "swift-http-types"),
            ]
        ),
        .testTarget(
            name: "AuthCryptographyTests",
            dependencies: [
                "AuthCryptography", "AuthRecovery", "HTTPRecovery", "HTTPRecoveryTesting", "SignInSupport",
                "ProcessSupport",
                .product(name: "HTTPTypes", package: "swift-http-types"),
                .product("Crypto", of: "swift-crypto", trait: "Cryptography"),
                .product("_CryptoExtras", of: "swift-crypto", trait: "Cryptography"),
            ]
        ),
        .testTarget(
            name: "FacebookAuthTests",
            dependencies: [
                "FacebookAuth", "AuthCryptography", "AuthRecovery", "AuthSandbox", "CurlTransport", "HTTPRecovery",
                "HTTPRecoveryTesting", "SignInSupport",
                .product(name: "HTTPTypes", package: "swift-http-types"),
            ]
        ),
        .testTarget(
            name: "ForgeRockAuthTests",
            dependencies: [
                "ForgeRockAuth", "AuthRecovery", "AuthSandbox", "HTTPRecovery", "HTTPRecoveryTesting", "SignInSupport",
                "WebAuthnTesting",
                .product(name: "HTTPTypes", package: "swift-http-types"),
                .product("Crypto", of: "swift-crypto", trait: "Cryptography"),
            ]
        ),
        .testTarget(
            name: "Auth0AuthTests",
            dependencies: [
                "Auth0Auth", "AuthCryptography", "AuthRecovery", "AuthSandbox", "CurlTransport", "HTTPRecovery",
                "HTTPRecoveryTesting", "ProcessSupport", "SignInSupport", "WebAuthnTesting",
                .product(name: "HTTPTypes", package: "swift-http-types"),
            ]
        ),
        .testTarget(name: "AuthSandboxTests", dependencies: ["AuthSandbox", "HTTPRecovery", "HTTPRecoveryTesting"]),
        .testTarget(
            name: "ClerkAuthTests",
            dependencies: [
                "ClerkAuth", "AuthRecovery", "AuthSandbox", "HTTPRecovery", "HTTPRecoveryTesting", "ProcessSupport",
                "SignInSupport", "WebAuthnTesting",
                .product(name: "HTTPTypes", package: "swift-http-types"),
            ]
        ),
        .testTarget(
            name: "OktaAuthTests",
            dependencies: [
                "OktaAuth", "AuthCryptography", "AuthRecovery", "AuthSandbox", "CurlTransport", "HTTPRecovery",
                "HTTPRecoveryTesting", "SignInSupport", "WebAuthnTesting",
                .product(name: "HTTPTypes", package: "swift-http-types"),
                .product("Crypto", of: "swift-crypto", trait: "Cryptography"),
            ]
        ),
        .testTarget(
            name: "RecoveryObservabilityTests",
            dependencies: [
                "RecoveryObservability", "AuthRecovery", "HTTPRecovery", "HTTPRecoveryTesting",
                .product(name: "HTTPTypes", package: "swift-http-types"),
                .product("Logging", of: "swift-log", trait: "Observability"),
                .product("Metrics", of: "swift-metrics", trait: "Observability"),
                .product("Tracing", of: "swift-distributed-tracing", trait: "Observability"),
                .product("ServiceContextModule", of: "swift-service-context", trait: "Observability"),
                .product("InMemoryLogging", of: "swift-log", trait: "Observability"),
                .product("MetricsTestKit", of: "swift-metrics", trait: "Observability"),
                .product("InMemoryTracing", of: "swift-distributed-tracing", trait: "Observability"),
            ]
        ),
        .testTarget(
            name: "RecoveryServiceTests",
            dependencies: [
                "RecoveryService", "AuthRecovery", "CurlTransport", "HTTPRecovery", "HTTPRecoveryTesting",
                "RecoveryObservability", "SQLiteRecoveryStore",
                .product(name: "HTTPTypes", package: "swift-http-types"),
                .product("ServiceLifecycle", of: "swift-service-lifecycle", trait: "ServiceLifecycle"),
                .product("UnixSignals", of: "swift-service-lifecycle", trait: "ServiceLifecycle"),
                .product("Logging", of: "swift-log", trait: "ServiceLifecycle"),
                .product("ServiceLifecycleTestKit", of: "swift-service-lifecycle", trait: "ServiceLifecycle"),
                .product("Configuration", of: "swift-configuration", trait: "Configuration"),
            ]
        ),
    ]
)

// Fuzz targets, for Scripts/fuzz alone: they link what only the build of a fuzzer has.
if Context.environment["HTTP_RECOVERY_ONLY"] == "Fuzzing" {
    package.targets += [
        .systemLibrary(name: "CFuzzer", path: "Tests/Fuzzing/CFuzzer"),
        // A part of a program.
        .target(
            name: "Transcripts",
            dependencies: [
                "HTTPRecovery", "HTTPRecoveryTesting", .product(name: "HTTPTypes", package: "swift-http-types"),
            ],
            path: "Examples/Sources/Transcripts"
        ),
        .executableTarget(
            name: "Fuzzing",
            dependencies: [
                "CFuzzer", "AsyncHTTPClientTransport", "Auth0Auth", "AuthCryptography", "AuthRecovery", "AuthSandbox",
                "ClerkAuth", "CurlTransport",
                "FacebookAuth", "ForgeRockAuth", "HTTPRecovery", "HTTPRecoveryTesting", "OktaAuth",
                "RedisRecoveryStore", "SQLiteRecoveryStore", "Transcripts",
                .product(name: "HTTPTypes", package: "swift-http-types"),
                .product("GRDB", of: "GRDB.swift", trait: "SQLite"),
            ],
            path: "Tests/Fuzzing/Sources"
        ),
    ]
}

// Tests with a generated client, for Scripts/openapi alone: what the generator writes does not compile without its runtime.
if Context.environment["HTTP_RECOVERY_ONLY"]?.split(separator: " ").contains("OpenAPIRecoveryTests") ?? false {
    package.targets.append(
        .testTarget(
            name: "OpenAPIRecoveryTests",
            dependencies: [
                "OpenAPIRecovery", "AuthRecovery", "AuthSandbox", "CurlTransport", "HTTPRecovery",
                "HTTPRecoveryTesting", "RecoveryObservability", "SignInSupport",
                .product(name: "HTTPTypes", package: "swift-http-types"),
                .product("OpenAPIRuntime", of: "swift-openapi-runtime", trait: "OpenAPI"),
                .product("ServiceContextModule", of: "swift-service-context", trait: "Observability"),
                .product("Tracing", of: "swift-distributed-tracing", trait: "Observability"),
                .product("InMemoryTracing", of: "swift-distributed-tracing", trait: "Observability"),
            ],
            exclude: ["Generated/openapi.yaml", "Generated/openapi-generator-config.yaml"]
        )
    )
}

// Named targets with what they need, without the others: a sanitizer's build of one module takes a fraction of the time.
if let names = Context.environment["HTTP_RECOVERY_ONLY"] {
    var wanted: Set<String> = []
    var used: Set<String> = []
    var found = names.split(separator: " ").map(String.init)
    while let name = found.popLast() {
        guard wanted.insert(name).inserted, let target = package.targets.first(where: { $0.name == name }) else {
            continue
        }
        for dependency in target.dependencies {
            switch dependency {
            case .targetItem(let name, _), .byNameItem(let name, _): found.append(name)
            case .productItem(_, let package?, _, _): used.insert(package)
            default: break
            }
        }
    }
    package.targets.removeAll { !wanted.contains($0.name) }
    package.products = []
    // What no target names is fetched whatever the traits are: so it stays where the next build needs it again.
    let kept = (Context.environment["HTTP_RECOVERY_KEPT"] ?? "").split(separator: " ")
    package.dependencies.removeAll { dependency in
        dependency.name.map { name in !used.contains(name) && !kept.contains { $0 == name } } ?? false
    }
}

for target in package.targets where target.type != .system && target.type != .plugin {
    // What the generator writes does not say what is unsafe in it.
    let safety: [SwiftSetting] = target.name == "OpenAPIRecoveryTests" ? [] : [.strictMemorySafety()]
    target.swiftSettings =
        (target.swiftSettings ?? []) + [.swiftLanguageMode(.v6), .treatAllWarnings(as: .error)] + safety + [
            .enableUpcomingFeature("ExistentialAny"),
            .enableUpcomingFeature("MemberImportVisibility"),
            .enableUpcomingFeature("InternalImportsByDefault"),
            .enableUpcomingFeature("NonisolatedNonsendingByDefault"),
        ]
}

// Which lines of the modules that are named are reached is counted, where that is asked for: see Scripts/coverage.
if let names = Context.environment["HTTP_RECOVERY_COUNTED"] {
    let counted = names.split(separator: " ")
    for target in package.targets where counted.contains(where: { $0 == target.name }) {
        target.swiftSettings =
            (target.swiftSettings ?? []) + [
                .unsafeFlags(["-profile-generate", "-profile-coverage-mapping"], .when(configuration: .debug))
            ]
        target.linkerSettings =
            (target.linkerSettings ?? []) + [.unsafeFlags(["-profile-generate"], .when(configuration: .debug))]
    }
}
