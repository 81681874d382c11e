import ClerkAuth
import HTTPRecovery
import Testing

/// All codes of Clerk's registry for the Frontend API, each with the status that it comes with.
@Suite struct ClerkRegistryTests {
    @Test func theRegistryIsWhole() {
        let codes = ClerkRegistryRow.all.flatMap(\.codes)
        #expect(codes.count == 395 && Set(codes).count == codes.count)
    }

    @Test(arguments: ClerkRegistryRow.all + ClerkRegistryRow.second)
    func codes(row: ClerkRegistryRow) {
        for code in row.codes {
            let outcome = Clerked(status: row.status, body: Clerked.error(code), path: row.path).outcome
            #expect(outcome.kind == row.kind, "\(code)")
            // Nobody but the person can give a consent.
            let remedies = code == "legal_not_accepted" ? [.askUser] : row.remedies
            #expect(outcome.remedies == remedies, "\(code)")
            #expect(outcome.code == code && outcome.tokenAction == .keep, "\(code)")
        }
    }

    /// Clerk's own words reach the person where they are meant for one, and never where they speak to a developer.
    @Test(arguments: ClerkRegistryRow.all + ClerkRegistryRow.second)
    func texts(row: ClerkRegistryRow) {
        for code in row.codes {
            let outcome = Clerked(status: row.status, body: Clerked.error(code), path: row.path).outcome
            let isForDevelopers: Bool =
                switch row.kind {
                case .misconfigured, .credentialRejected, .stateConflict, .unavailable, .notFound, .stepUpRequired,
                    .invalidRequest:
                    true
                case .quotaExhausted: code.hasPrefix("dev_")
                default: false
                }
            let isConsent = code == "legal_not_accepted"
            #expect(outcome.userMessage == (isForDevelopers && !isConsent ? nil : "l"), "\(code)")
        }
    }

    @Test(arguments: ["password", "code", "email_address", "username", "legal_accepted", "new_password"])
    func aFieldThatThePersonHasFilledInIsTheirs(field: String) {
        let meta = #"{"param_name":"\#(field)"}"#
        for code in ["form_param_format_invalid", "form_param_value_invalid", "form_param_max_length_exceeded"] {
            let outcome = Clerked(body: Clerked.error(code, meta: meta)).outcome
            #expect(outcome.kind == .invalidRequest && outcome.remedies == [.askUser] && outcome.parameter == field)
            #expect(outcome.userMessage == "l")
        }
        for code in ["form_param_nil", "form_param_missing"] {
            let outcome = Clerked(body: Clerked.error(code, meta: meta)).outcome
            #expect(outcome.remedies == [.askUser] && outcome.userMessage == nil)
        }
        let unknown = Clerked(body: Clerked.error("form_param_unknown", meta: meta)).outcome
        #expect(unknown.remedies == [.fixRequest] && unknown.userMessage == nil)
    }

    @Test(arguments: ["strategy", "redirect_url", "email_address_id", "ticket", "code_challenge"])
    func aFieldOfTheClientsOwnIsNot(field: String) {
        let body = Clerked.error("form_param_value_invalid", meta: #"{"param_name":"\#(field)"}"#)
        let outcome = Clerked(body: body).outcome
        #expect(outcome.kind == .invalidRequest && outcome.remedies == [.fixRequest] && outcome.userMessage == nil)
    }

    @Test func aConsentThatIsMissingIsAskedFor() {
        let outcome = Clerked(body: Clerked.error("legal_not_accepted"), path: "/v1/client/sign_ups").outcome
        #expect(outcome.kind == .invalidRequest && outcome.remedies == [.askUser])
        #expect(outcome.parameter == "legal_accepted" && outcome.userMessage == "l")
    }

    /// What nobody knows is decided by the status.
    @Test(
        arguments: [
            (400, nil, .invalidRequest, [.fixRequest], false), (400, "nickname", .invalidRequest, [.askUser], true),
            (401, nil, .unknown, [.resync], false), (401, "nickname", .unknown, [.resync], true),
            (402, nil, .permissionDenied, [.contactAdmin], true), (403, nil, .permissionDenied, [.contactAdmin], true),
            (404, nil, .notFound, [.resync], false), (409, nil, .conflict, [.resync], false),
            (410, nil, .flowExpired, [.restartFlow], false), (413, nil, .invalidRequest, [.fixRequest], false),
            (415, nil, .misconfigured, [.fixRequest], false), (422, nil, .invalidRequest, [], false),
            (422, "nickname", .invalidRequest, [.askUser], true), (408, nil, .unavailable, [.retry], false),
            (425, nil, .unavailable, [.retry], false), (500, nil, .unavailable, [.retry], false),
            (502, nil, .unavailable, [.retry], false), (429, nil, .rateLimited, [.wait], true),
        ] as [(Int, String?, Outcome.Kind, [Outcome.Remedy], Bool)]
    )
    func aCodeOfTomorrow(
        status: Int,
        field: String?,
        kind: Outcome.Kind,
        remedies: [Outcome.Remedy],
        isForThePerson: Bool
    ) {
        let meta = field.map { #"{"param_name":"\#($0)"}"# } ?? "{}"
        let outcome = Clerked(status: status, body: Clerked.error("brand_new_code", meta: meta)).outcome
        #expect(outcome.kind == kind && outcome.remedies == remedies && outcome.code == "brand_new_code")
        #expect(outcome.userMessage == (isForThePerson ? "l" : nil) && outcome.message == "m")
        #expect(outcome.clerkLongMessage == "l", "whoever wants to show it all the same has it")
        #expect(outcome.tokenAction == .keep)
    }

    /// One entry of the registry has an empty code.
    @Test func aCodeThatIsEmpty() {
        let error = #"{"code":"","message":"m","long_message":"l","meta":{}}"#
        let outcome = Clerked(status: 400, body: #"{"errors":[\#(error)]}"#).outcome
        #expect(outcome.kind == .conflict && outcome.remedies == [.askUser] && outcome.code == nil)
        #expect(outcome.userMessage == "l")
        for status in [401, 403, 422, 500] {
            #expect(Clerked(status: status, body: #"{"errors":[\#(error)]}"#).outcome.kind != .conflict)
        }
        #expect(Clerked(status: 400, body: #"{"errors":[{"message":"m"}]}"#).outcome.kind == .invalidRequest)
        let next = Clerked(status: 400, body: #"{"errors":[\#(error),{"code":"sms_send_error","message":"b"}]}"#)
        #expect(next.outcome.kind == .factorUnavailable)
    }

    @Test func ofSeveralErrorsTheFirstThatIsKnownDecides() {
        let errors = #"[{"code":"brand_new_code","message":"a"},{"code":"sms_send_error","message":"b"}]"#
        let outcome = Clerked(status: 400, body: #"{"errors":\#(errors)}"#).outcome
        #expect(outcome.kind == .factorUnavailable && outcome.code == "sms_send_error" && outcome.userMessage == "b")
    }
}
