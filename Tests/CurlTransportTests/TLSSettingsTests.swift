import CurlTransport
import HTTPRecovery
import HTTPRecoveryTesting
import HTTPTypes
import ProcessSupport
import Testing

/// Whom a transport trusts, who it is, and what versions it speaks.
@Suite(.enabled(if: TLSFront.isAvailable), .timeLimit(.minutes(30)))
struct TLSSettingsTests {
    private static func bytes(of path: String) async throws -> [UInt8] {
        try await MessageBody(file: path).collect(upTo: 1 << 20)
    }

    private static func transport(_ tls: CurlTransport.TLS) -> CurlTransport {
        CurlTransport.patient(.init(tls: tls))
    }

    // MARK: Authorities

    @Test
    func authoritiesInMemoryAreTrusted() async throws {
        let server = try FaultServer(.answer())
        let front = try await TLSFront.start(port: server.port)
        let pem = try await Self.bytes(of: front.caFile)
        let transport = Self.transport(.init(authorities: .certificates(pem)))
        for _ in 0..<2 {
            #expect(try await transport.fetch(.to(front.authority, scheme: "https")).head.status == .ok)
        }
        let other = try await TLSFront.start(port: server.port)
        let error = try await transport.failure(.to(other.authority, scheme: "https"))
        #expect(error.code == .certificateRejected)
        #expect(error.certainty == .neverSent)
        withExtendedLifetime((front, other)) {}
    }

    @Test(arguments: ["", "no certificate"])
    func authoritiesThatAreNoneAreAMisconfiguration(text: String) async throws {
        let server = try FaultServer(.answer())
        let front = try await TLSFront.start(port: server.port)
        let error = try await Self.transport(.init(authorities: .certificates(Array(text.utf8))))
            .failure(.to(front.authority, scheme: "https"))
        #expect(error.code == .misconfigured, "\(error)")
        #expect(error.certainty == .neverSent)
        #expect(!error.isTransient)
        withExtendedLifetime(front) {}
    }

    @Test
    func moreThanLibcurlTakesIsAMisconfiguration() async throws {
        let server = try FaultServer(.answer())
        let pem = [UInt8](repeating: 10, count: 9 << 20)
        let error = try await Self.transport(.init(authorities: .certificates(pem))).failure(.to(server.authority))
        #expect(error.code == .misconfigured)
        #expect(server.connectionCount == 0)
    }

    @Test
    func theShortFormsMeanTheSame() {
        var configuration = CurlTransport.Configuration(caFile: "/ca.pem", isCertificateVerificationDisabled: true)
        #expect(configuration.tls == .init(authorities: .file("/ca.pem"), isVerificationDisabled: true))
        configuration.tls.authorities = .certificates([])
        #expect(configuration.caFile == nil)
        configuration.caFile = nil
        #expect(configuration.tls.authorities == .system)
    }

    // MARK: The client's certificate

    private static let asking = "context.verify_mode = ssl.CERT_REQUIRED; context.load_verify_locations(cert)"

    enum Holder: CaseIterable {
        case files, memory, encryptedFile, encryptedMemory
    }

    @Test(arguments: Holder.allCases)
    func aServerThatAsksGetsTheCertificate(holder: Holder) async throws {
        let server = try FaultServer { .echo($0) }
        let front = try await TLSFront.start(port: server.port, settings: Self.asking)
        let isEncrypted = holder == .encryptedFile || holder == .encryptedMemory
        let keyFile = isEncrypted ? try await front.encryptKey("open sesame") : front.keyFile
        var tls = CurlTransport.TLS(authorities: .file(front.caFile))
        let passphrase: CurlTransport.TLS.Passphrase? = isEncrypted ? "open sesame" : nil
        if holder == .files || holder == .encryptedFile {
            tls.clientCertificate = .files(chain: front.caFile, key: keyFile, passphrase: passphrase)
        } else {
            tls.clientCertificate = .pem(
                chain: try await Self.bytes(of: front.caFile),
                key: try await Self.bytes(of: keyFile),
                passphrase: passphrase
            )
        }
        let transport = Self.transport(tls)
        let (head, body) = try await transport.fetch(.to(front.authority, .post, scheme: "https"), MessageBody("me"))
        #expect(head.status == .ok)
        #expect(body.hasSuffix("me"))
        withExtendedLifetime(front) {}
    }

    /// Whether the request is out when the server says so hangs on the version of TLS.
    @Test(arguments: ["", "; context.maximum_version = ssl.TLSVersion.TLSv1_2"])
    func aServerThatAsksAndGetsNoneSaysSo(version: String) async throws {
        let server = try FaultServer(.answer())
        let front = try await TLSFront.start(port: server.port, settings: Self.asking + version)
        let error = try await Self.transport(.init(authorities: .file(front.caFile)))
            .failure(.to(front.authority, .post, scheme: "https"), MessageBody("x"))
        #expect(error.code == .tlsFailed, "\(error)")
        // TLS 1.2 has no word of its own for it: it could be anything about the handshake.
        #expect(error.isTransient == !version.isEmpty)
        #expect(error.certainty == (version.isEmpty ? .unknown : .neverSent))
        #expect(server.receivedRequests.isEmpty)
        withExtendedLifetime(front) {}
    }

    enum Mistake: CaseIterable {
        case missingChain, missingKey, anotherKey, wrongPassphrase, noPassphrase, noKeyInMemory
    }

    @Test(arguments: Mistake.allCases)
    func aCertificateThatCannotBeUsedIsAMisconfiguration(mistake: Mistake) async throws {
        let server = try FaultServer(.answer())
        let front = try await TLSFront.start(port: server.port, settings: Self.asking)
        let other = try await TLSFront.start(port: server.port)
        let encrypted = try await front.encryptKey("right")
        let certificate: CurlTransport.TLS.ClientCertificate =
            switch mistake {
            case .missingChain: .files(chain: "/nonexistent/cert.pem", key: front.keyFile)
            case .missingKey: .files(chain: front.caFile, key: "/nonexistent/key.pem")
            case .anotherKey: .files(chain: front.caFile, key: other.keyFile)
            case .wrongPassphrase: .files(chain: front.caFile, key: encrypted, passphrase: "wrong-phrase")
            // It must not be asked for on a terminal.
            case .noPassphrase: .files(chain: front.caFile, key: encrypted)
            case .noKeyInMemory: .pem(chain: try await Self.bytes(of: front.caFile), key: [])
            }
        let tls = CurlTransport.TLS(authorities: .file(front.caFile), clientCertificate: certificate)
        let request = HTTPRequest.to(front.authority, .post, scheme: "https")
        let error = try await Self.transport(tls).failure(request, MessageBody("x"))
        #expect(error.code == .misconfigured, "\(error)")
        #expect(error.certainty == .neverSent)
        #expect(!error.isTransient)
        #expect(!error.description.contains("wrong-phrase"))
        #expect(server.receivedRequests.isEmpty)
        withExtendedLifetime((front, other)) {}
    }

    @Test
    func neitherKeyNorPassphraseIsPrinted() {
        let tls = CurlTransport.TLS(
            clientCertificate: .pem(chain: [65], key: Array("KEYKEY".utf8), passphrase: "hush")
        )
        var dumped = ""
        dump(tls, to: &dumped)
        dump(CurlTransport.Configuration(tls: tls), to: &dumped)
        let passphrase: CurlTransport.TLS.Passphrase = "hush"
        for text in ["\(tls)", String(reflecting: tls), dumped, "\(passphrase)", String(reflecting: passphrase)] {
            #expect(!text.contains("hush"))
            #expect(!text.contains("- 75\n"), "no byte of the key: \(text)")
            #expect(!text.contains("KEY"))
        }
    }

    // MARK: Pins

    @Test(arguments: [true, false])
    func aPinnedKeyIsTheOnlyOneAccepted(isVerified: Bool) async throws {
        let server = try FaultServer(.answer())
        let front = try await TLSFront.start(port: server.port)
        let right = try #require(CurlTransport.TLS.PublicKeyPin(try await front.pin()))
        let wrong = try #require(CurlTransport.TLS.PublicKeyPin(sha256: [UInt8](repeating: 7, count: 32)))
        for (pins, isAccepted) in [([right], true), ([wrong, right], true), ([wrong], false)] {
            var tls = CurlTransport.TLS(authorities: .file(front.caFile), pinnedPublicKeys: Set(pins))
            tls.isVerificationDisabled = !isVerified
            let transport = Self.transport(tls)
            let request = HTTPRequest.to(front.authority, .post, scheme: "https")
            if isAccepted {
                #expect(try await transport.fetch(request, MessageBody("x")).head.status == .ok)
            } else {
                let count = server.receivedRequests.count
                let error = try await transport.failure(request, MessageBody("x"))
                #expect(error.code == .certificateRejected)
                #expect(error.certainty == .neverSent)
                #expect(!error.isTransient)
                #expect(server.receivedRequests.count == count)
            }
        }
        withExtendedLifetime(front) {}
    }

    @Test
    func aPinIsReadAndWritten() throws {
        let digest = [UInt8](0..<32)
        let text = "AAECAwQFBgcICQoLDA0ODxAREhMUFRYXGBkaGxwdHh8="
        let pin = try #require(CurlTransport.TLS.PublicKeyPin("sha256//" + text))
        #expect(pin.digest == digest)
        #expect(pin == CurlTransport.TLS.PublicKeyPin(text))
        #expect(pin.description == "sha256//" + text)
        for broken in ["", "sha256//", "sha1//" + text, "/etc/pin.pem", "AAEC", text + "AAAA", text + ";x"] {
            #expect(CurlTransport.TLS.PublicKeyPin(broken) == nil, "\(broken)")
        }
    }

    // MARK: Versions

    @Test(arguments: [
        ("context.maximum_version = ssl.TLSVersion.TLSv1_2", CurlTransport.TLS.Version.tls12, nil, true),
        ("context.maximum_version = ssl.TLSVersion.TLSv1_2", .tls13, nil, false),
        ("context.minimum_version = ssl.TLSVersion.TLSv1_3", .tls12, nil, true),
        ("context.minimum_version = ssl.TLSVersion.TLSv1_3", .tls12, CurlTransport.TLS.Version.tls12, false),
        ("context.minimum_version = ssl.TLSVersion.TLSv1_3", .tls13, .tls13, true),
        // OpenSSL speaks the older version at no security level above 0.
        (
            "context.minimum_version = ssl.TLSVersion.TLSv1; context.maximum_version = ssl.TLSVersion.TLSv1_1; "
                + "context.set_ciphers('ALL:@SECLEVEL=0')", .tls12, nil, false
        ),
    ])
    func theVersionIsWithinItsBounds(
        settings: String,
        lowest: CurlTransport.TLS.Version,
        highest: CurlTransport.TLS.Version?,
        isAccepted: Bool
    ) async throws {
        let server = try FaultServer(.answer())
        let front = try await TLSFront.start(port: server.port, settings: settings)
        let tls = CurlTransport.TLS(
            authorities: .file(front.caFile),
            minimumVersion: lowest,
            maximumVersion: highest
        )
        let request = HTTPRequest.to(front.authority, .post, scheme: "https")
        if isAccepted {
            #expect(try await Self.transport(tls).fetch(request, MessageBody("x")).head.status == .ok)
        } else {
            let error = try await Self.transport(tls).failure(request, MessageBody("x"))
            #expect(error.code == .tlsFailed)
            #expect(error.certainty == .neverSent)
        }
        withExtendedLifetime(front) {}
    }

    @Test
    func boundsThatLeaveNothingAreAMisconfiguration() async throws {
        let tls = CurlTransport.TLS(minimumVersion: .tls13, maximumVersion: .tls12)
        #expect(CurlTransport.Configuration(tls: tls).problem == "the highest TLS version is below the lowest")
        #expect(CurlTransport.Configuration().problem == nil)
        let transport = Self.transport(tls)
        let error = try await transport.failure(.to("origin.example", scheme: "https"))
        #expect(error.code == .misconfigured)
        #expect(error.certainty == .neverSent)
    }
}
