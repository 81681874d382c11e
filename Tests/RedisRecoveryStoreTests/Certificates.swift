#if Redis
import ProcessSupport

/// A certificate authority of the test's own, and a certificate that it has signed.
struct Certificates: Sendable {
    let directory: TemporaryDirectory
    let caFile: String
    let chainFile: String
    let keyFile: String

    /// Makes certificates.
    ///
    /// - Parameter name: For whom, such as `IP:127.0.0.1` or `DNS:localhost`.
    init(for name: String) async throws {
        directory = TemporaryDirectory()
        let path = directory.path
        (caFile, chainFile, keyFile) = ("\(path)/ca.pem", "\(path)/cert.pem", "\(path)/key.pem")
        let script = """
            set -e; cd "$1"
            key="-newkey ec -pkeyopt ec_paramgen_curve:prime256v1 -nodes"
            openssl req -x509 $key -days 2 -subj /CN=ca -keyout cakey.pem -out ca.pem
            openssl req $key -subj /CN=server -keyout key.pem -out request.pem
            printf 'subjectAltName=%s' "$2" > extensions
            openssl x509 -req -in request.pem -CA ca.pem -CAkey cakey.pem -CAcreateserial -days 2 \
                -extfile extensions -out cert.pem
            """
        guard try await Child("/bin/sh", ["-c", script, "sh", path, name]).exit() == 0 else {
            throw RedisServer.Failure(what: "openssl makes no certificate")
        }
    }
}
#endif
