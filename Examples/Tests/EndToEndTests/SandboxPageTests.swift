import AuthSandbox
import HTTPRecovery
import Testing

/// The page of the sandbox, used as a person does.
@Suite(
    "/_sandbox/ in a browser",
    .enabled(if: HeadlessBrowser.isInstalled, "no chromium and chromedriver: apt-get install chromium chromium-driver"),
    .timeLimit(.minutes(30)),
    .bounded
)
struct SandboxPageTests {
    /// The status that a request is answered with.
    private static func status(of url: String) async throws -> String {
        let options = ["--max-attempts", "1", "-o", "/dev/null", "-w", "%{http_code}"]
        return try await BuiltProgram.run("http-recover", options + [url]).output
    }

    private static func faults(_ sandbox: AuthSandbox) async throws -> Int? {
        let run = try await BuiltProgram.run("http-recover", [sandbox.url + "/_sandbox/faults"])
        return try JSONValue(parsing: run.output)["faults"]?.array?.count
    }

    @Test func aClickSwitchesAFaultAndUnlocksSomebody() async throws {
        var scenario = SandboxScenario.unlimited
        var person = SandboxUser(email: "mallory@example.com", password: "open-sesame-42")
        person.firstName = "<img src=x>"
        scenario.users.append(person)
        try await Bench.run(scenario) { bench in
            let page = try #require(bench.sandbox.pageURL)
            try await HeadlessBrowser.run(in: bench.directory) { browser in
                try await browser.open(page)
                try await browser.waits(for: "[data-key='ada@example.com']", toShow: "open-sesame-42")
                try await browser.waits(for: "[data-key='mallory@example.com']", toShow: "<img src=x>")
                #expect(try await !browser.has("#accounts img"))

                let fault = "[data-preset=status-503]"
                try await browser.click(fault)
                try await browser.waits(for: fault + "[aria-checked=true]", toShow: "503")
                #expect(try await Self.status(of: bench.sandbox.url + "/v1/environment") == "503")
                try await browser.waits(for: "#requests tr", toShow: "/v1/environment")
                try await browser.waits(for: "#requests tr", toShow: "fault status, not processed")
                try await browser.click(fault)
                try await browser.waits(for: fault + "[aria-checked=false]", toShow: "503")
                #expect(try await Self.status(of: bench.sandbox.url + "/v1/environment") == "200")

                let password = #"{"password": "open-sesame-42"}"#
                #expect(try await bench.signIn("ken@example.com", answers: password).status != 0)
                try await browser.waits(for: "[data-key='ken@example.com']", toShow: "locked for good at clerk")
                try await browser.click("[aria-label='Unlock ken@example.com']")
                try await browser.waits(for: "[aria-label='Lock ken@example.com']", toShow: "Lock")
                #expect(try await bench.signIn("ken@example.com", answers: password).status == 0)
                try await browser.waits(for: "[data-key='ken@example.com']", toShow: "1 signed in at clerk")
            }
        }
    }

    /// A form needs nobody's leave to be sent elsewhere; only the answer is kept from its page.
    @Test func aFormOfAnotherSiteSwitchesNothing() async throws {
        try await Bench.run { bench in
            let site = try await AuthSandbox.start()
            defer { site.stop() }
            var form = SandboxFault(.html)
            form.status = 200
            form.body = """
                <form method="post" enctype="text/plain" action="\(bench.sandbox.url)/_sandbox/faults">\
                <input name='{"kind": "hang", "body": "' value='"}'><button id="send">Send</button></form>
                """
            site.add(form)
            try await HeadlessBrowser.run(in: bench.directory) { browser in
                try await browser.open(site.url)
                try await browser.click("#send")
                try await browser.waits(for: "body", toShow: "a page of another site may not ask for this")
            }
            #expect(try await Self.faults(bench.sandbox) == 0)
        }
    }
}
