#if Redis
import HTTPRecovery
import RedisRecoveryStore
import Testing

@Suite struct URLTests {
    typealias Configuration = RedisStore.Configuration

    struct Readable: Sendable, CustomTestStringConvertible {
        var url: String
        var configuration: Configuration
        var testDescription: String { url }

        init(
            _ url: String,
            _ endpoint: RedisStore.Endpoint,
            others: [RedisStore.Endpoint] = [],
            user: String? = nil,
            password: RedisStore.Password? = nil,
            database: Int = 0,
            tls: RedisStore.TLS? = nil,
            sentinel: String? = nil
        ) {
            self.url = url
            configuration = Configuration(
                endpoint: endpoint,
                alternatives: others,
                sentinel: sentinel.map { RedisStore.Sentinel(primary: $0) },
                user: user,
                password: password,
                database: database,
                tls: tls
            )
        }
    }

    static let readable: [Readable] = [
        Readable("redis://localhost", .tcp(host: "localhost")),
        Readable("REDIS://localhost/", .tcp(host: "localhost")),
        Readable("redis://localhost:6380/3", .tcp(host: "localhost", port: 6380), database: 3),
        Readable("redis://localhost:", .tcp(host: "localhost")),
        Readable("redis://:pw@localhost", .tcp(host: "localhost"), password: "pw"),
        Readable("redis://ann:pw@localhost", .tcp(host: "localhost"), user: "ann", password: "pw"),
        Readable("redis://ann:@localhost", .tcp(host: "localhost"), user: "ann", password: ""),
        Readable("redis://a%6en:p%40%3A%2f%25%3F@h", .tcp(host: "h"), user: "ann", password: "p@:/%?"),
        Readable("redis://ann:p@ss:word@h", .tcp(host: "h"), user: "ann", password: "p@ss:word"),
        Readable("redis://:%C3%A4@h", .tcp(host: "h"), password: "ä"),
        Readable("redis://[::1]", .tcp(host: "::1")),
        Readable(
            "redis://ann:pw@[fe80::1]:7000/1",
            .tcp(host: "fe80::1", port: 7000),
            user: "ann",
            password: "pw",
            database: 1
        ),
        Readable("redis://a,b:7000/1", .tcp(host: "a"), others: [.tcp(host: "b", port: 7000)], database: 1),
        Readable(
            "redis://u:p,q@a,[::1]:1",
            .tcp(host: "a"),
            others: [.tcp(host: "::1", port: 1)],
            user: "u",
            password: "p,q"
        ),
        Readable("redis+sentinel://a/main", .tcp(host: "a", port: 26_379), sentinel: "main"),
        Readable(
            "rediss+sentinel://:pw@a:1,b/ma%2Fin/2",
            .tcp(host: "a", port: 1),
            others: [.tcp(host: "b", port: 26_379)],
            password: "pw",
            database: 2,
            tls: RedisStore.TLS(),
            sentinel: "ma/in"
        ),
        Readable("rediss://h:6380", .tcp(host: "h", port: 6380), tls: RedisStore.TLS()),
        Readable("redis+unix:///run/redis.sock", .unix(path: "/run/redis.sock")),
        Readable(
            "unix://ann:pw@/run/a%20b.sock?db=2",
            .unix(path: "/run/a b.sock"),
            user: "ann",
            password: "pw",
            database: 2
        ),
        Readable("/run/redis.sock", .unix(path: "/run/redis.sock")),
    ]

    @Test(arguments: readable)
    func whatAURLSays(_ example: Readable) throws {
        #expect(try Configuration(url: example.url) == example.configuration)
    }

    @Test(arguments: [
        "", "localhost", "http://h3cret", "redis:h3cret", "redis://", "redis://:pw3cret@", "redis://ann3cret@h",
        "redis://h3cret:0", "redis://h3cret:65536", "redis://h3cret:-1", "redis://h3cret:x",
        "redis://h3cret:99999999999999999999",
        "redis://::1", "redis://[::1", "redis://[::1]x", "redis://[]", "redis://h3cret/x", "redis://h3cret/-1",
        "redis://h3cret/1/2",
        "redis://h3cret?db=1", "redis://h3cret#1", "redis://:%3cret%@h", "redis://:%zz3cret@h", "redis://:%ff@h3cret",
        "redis://:%00@h3cret", "redis+unix://h3cret", "redis+unix:///s3cret?x=1", "redis+unix:///s3cret?db=x",
        "redis://:s3cret/x@h", "redis://:s3cret?x@h", "rediss://:s3cret#x@h",
    ])
    func whatCannotBeReadIsNamedAndNotShown(_ url: String) {
        do {
            let configuration = try Configuration(url: url)
            Issue.record("expected an error, found \(configuration)")
        } catch {
            #expect(!"\(error)".contains("3cret"))
            #expect("\(error)".contains("needs"))
        }
    }

    @Test(arguments: [
        Configuration(namespace: ""), Configuration(namespace: "a}b"), Configuration(namespace: "{a"),
        Configuration(namespace: String(repeating: "n", count: 201)), Configuration(database: -1),
        Configuration(endpoint: .tcp(host: "")), Configuration(endpoint: .tcp(host: "h", port: 0)),
        Configuration(endpoint: .tcp(host: "h", port: 65_536)), Configuration(endpoint: .unix(path: "")),
        Configuration(endpoint: .unix(path: String(repeating: "p", count: 108))),
        Configuration(endpoint: .unix(path: "/s"), tls: RedisStore.TLS()), Configuration(user: "ann"),
    ])
    func whatCannotWorkIsRefused(_ configuration: Configuration) {
        #expect(throws: SharedState.StoreError.self) { try RedisStore(configuration: configuration) }
    }

    @Test func numbersAreBroughtIntoTheirRanges() throws {
        let configuration = Configuration(
            connectTimeout: .seconds(-1),
            commandTimeout: .longest,
            maxPendingCommands: -5
        )
        let store = try RedisStore(configuration: configuration)
        #expect(store.configuration.connectTimeout == .milliseconds(1))
        #expect(store.configuration.commandTimeout == .seconds(3600))
        #expect(store.configuration.maxPendingCommands == 1)
    }

    @Test func aPasswordCannotBePrinted() throws {
        let configuration = try Configuration(url: "redis://ann:s3cret@localhost")
        let store = try RedisStore(configuration: configuration)
        var dumped = ""
        dump(configuration, to: &dumped)
        dump(store, to: &dumped)
        let texts = [
            dumped, "\(configuration)", String(reflecting: configuration), "\(store)", String(reflecting: store),
            "\(String(describing: configuration.password))", String(reflecting: configuration.password),
        ]
        for text in texts { #expect(!text.contains("s3cret")) }
        #expect(dumped.contains("ann"))
    }
}
#endif
