import HTTPRecovery
import HTTPRecoveryTesting
import Testing

@testable import AuthSandbox

@Suite("Clerk: what is refused before anything else")
struct ClerkAdmissionTests {
    private func get(_ target: String, _ headers: [(String, String)] = [], method: String = "GET", body: String = "")
        -> Harness
    {
        var client = Harness()
        client.send(
            SandboxRequest(
                method: method,
                target: target,
                headers: headers.map { .init(name: $0.0, value: $0.1) },
                body: Array(body.utf8)
            )
        )
        return client
    }

    @Test func originAndAuthorizationTogether() {
        let both = get("/v1/client?_is_native=1", [("origin", "http://x"), ("authorization", "t")])
        #expect(both.status == 400 && both.code == "origin_authorization_headers_conflict")
        #expect(get("/v1/client", [("origin", "http://x")]).status == 200)
        #expect(get("/v1/client", [("origin", "http://x"), ("authorization", "t")]).status == 400)
    }

    @Test func aNativeRequestWithoutTheFieldOfTheToken() {
        for headers in [[], [("origin", "http://x")]] {
            let bare = get("/v1/client?_is_native=1", headers)
            #expect(bare.status == 400 && bare.code == "request_header_missing")
        }
        for value in ["", "Bearer", "nonsense"] {
            #expect(get("/v1/client?_is_native=1", [("authorization", value)]).status == 200, "\(value)")
        }
        #expect(get("/v1/client").status == 200, "a browser's")
    }

    @Test func nativeAPISwitchedOff() {
        var client = Harness { $0.isNativeAPIEnabled = false }
        client.call("GET", "client")
        #expect(client.status == 400 && client.code == "native_api_disabled")
    }

    @Test func contentTypes() {
        for type in ["application/json", "multipart/form-data", "text/plain"] {
            let client = get("/v1/client", [("content-type", type)], method: "POST", body: "{}")
            #expect(client.status == 415 && client.code == "unsupported_content_type")
        }
        let type = "application/x-www-form-urlencoded; charset=utf-8"
        #expect(get("/v1/client", [("content-type", type)], method: "POST", body: "a=1").status == 200)
    }

    @Test func versions() {
        #expect(get("/v1/environment", [("clerk-api-version", "2026-05-12")]).status == 200)
        let wrong = get("/v1/environment", [("clerk-api-version", "latest")])
        #expect(wrong.status == 400 && wrong.code == "api_version_invalid")
    }

    @Test func pathsAndPrefixes() {
        #expect(get("/proxy/clerk/v1/environment").status == 200)
        for target in ["/", "/v2/client", "/v1", "/v1/nothing", "/v1/client/sign_ins/x/y/z", "//", "/%ff/v1/%00"] {
            let client = get(target)
            #expect(client.status == 404 && client.code == "resource_not_found", "\(target)")
        }
        #expect(get("/v1/client?_method=PUT", method: "POST").status == 200)
    }

    @Test func webClientsUseACookie() {
        let client = get("/v1/client", method: "POST")
        let cookie = client.answer.header("Set-Cookie") ?? ""
        #expect(cookie.hasPrefix("__client=") && client.answer.header("Authorization") == nil)
        var again = client
        let pair = String(cookie.prefix { $0 != ";" })
        again.send(
            SandboxRequest(method: "GET", target: "/v1/client", headers: [.init(name: "cookie", value: "a=b; \(pair)")])
        )
        #expect(again.answer.jsonBody?["response"]?["object"] == "client")
    }

    @Test func errorsHaveATraceAndTheClientWhereItIsWanted() {
        var client = Harness { $0.showsClientInErrors = true }
        client.signIn("linus@example.com")
        let body = client.answer.jsonBody
        #expect(body?["clerk_trace_id"]?.string?.count == 32)
        #expect(body?["meta"]?["client"]?["sign_in"]?["status"] == "needs_first_factor")
        #expect(body?["errors"]?[0]?["message"] != nil && body?["errors"]?[0]?["long_message"] != nil)
    }

    @Test func theEnvironmentIsBare() {
        let client = get("/v1/environment")
        #expect(client.answer.jsonBody?["auth_config"]?["single_session_mode"] == true)
        let lockout = client.answer.jsonBody?["user_settings"]?["attack_protection"]?["user_lockout"]
        #expect(lockout?["max_attempts"] == 10 && lockout?["duration_in_minutes"] == 60)
    }
}
