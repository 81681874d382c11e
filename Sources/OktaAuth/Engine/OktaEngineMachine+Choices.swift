import AuthRecovery
import HTTPRecovery

/// Choosing: among authenticators, their methods, and the ways beside them.
extension OktaEngineMachine {
    /// One way that a form offers.
    struct Way {
        var factor: Factor
        /// Which of the form's options it is.
        var option: Int
        /// Which of the option's methods, if it has several.
        var method: Int?
        /// Whether the person's phone number is wanted with it.
        var wantsPhoneNumber: Bool
    }

    /// The ways that a form offers by its options.
    func ways(_ form: OktaForm, _ answer: OktaEngineAnswer) -> [Way] {
        let ways = (form["authenticator"]?.options ?? []).enumerated().flatMap { index, option -> [Way] in
            let related = answer.related(to: option)
            let id = option.field("id")?.value?.string ?? related?.id ?? String(index)
            // Of one authenticator somebody may have several.
            let enrollment = option.field("enrollmentId")?.value?.string ?? related?.id
            // Of an app that is set up by a link or a picture, no method is chosen.
            if option.field("channel") != nil {
                let factor = Factor(
                    key: .push,
                    providerName: related?.key.nonEmpty ?? "okta_verify",
                    id: "\(form.name):\(id)"
                )
                return [Way(factor: factor, option: index, method: nil, wantsPhoneNumber: false)]
            }
            let methods = option.field("methodType")
            let wantsNumber = option.field("phoneNumber").map { $0.value == nil } ?? false
            func way(_ method: String?, _ place: Int?) -> Way? {
                guard let key = related?.factorKey(method) ?? OktaAuthenticator.factorKey("", method) else {
                    return nil
                }
                let parts = [form.name, id, method, enrollment].compactMap(\.self)
                let factor = Factor(
                    key: key == .password && form.name.hasSuffix("enroll") ? .newPassword : key,
                    providerName: related?.name(method) ?? method ?? "authenticator",
                    destination: related?.destination ?? (key == .text ? option.label : nil),
                    id: parts.joined(separator: ":")
                )
                return Way(factor: factor, option: index, method: place, wantsPhoneNumber: wantsNumber)
            }
            guard let methods, !methods.options.isEmpty else {
                let only = methods?.value?.string ?? related?.method
                return way(only, nil).map { [$0] } ?? []
            }
            return methods.options.enumerated().compactMap { way($1.value?.string, $0) }
        }
        // An app on this very device comes last: it may not be there.
        let isOfDevice = { (way: Way) in way.factor.providerName == OktaAuthenticator.device }
        return ways.filter { !isOfDevice($0) } + ways.filter(isOfDevice)
    }

    /// Has one of several authenticators chosen.
    mutating func select(_ form: OktaForm, _ answer: OktaEngineAnswer) async throws -> SignInStep<OktaSession>? {
        // It stands beside what is being done now.
        guard answer.forms.first?.name == form.name || !answer.forms.contains(where: Self.isWork) else { return nil }
        if form.name.hasSuffix("enroll"), !api.configuration.enrollsOptionalFactors, let skip = answer.form("skip") {
            return try await post(skip, resend: .spending)
        }
        if form["identifier"] != nil, identifier.isEmpty { return .ask(.identifier) }
        var ways = ways(form, answer)
        guard !ways.isEmpty else { throw failure(.factorUnavailable, [.contactAdmin]) }
        let typed = ways.first { $0.factor.key == .password }
        if let typed, password != nil || recovers { return try await take(typed, form) }
        if case .recover(let type?) = goal {
            let named = ways.filter { $0.factor.providerName == type.rawValue || $0.factor.key == type.key }
            if !named.isEmpty { ways = named }
        }
        return .choose(ways.map(\.factor))
    }

    /// Whether a form is what is being done, beside which others stand.
    private static func isWork(_ form: OktaForm) -> Bool {
        ["challenge-", "enroll-", "reset-", "reenroll-", "authenticator-"].contains { form.name.hasPrefix($0) }
            && !form.isLink
    }

    /// Goes on with a factor that was chosen among those of the answer.
    mutating func choose(_ factor: Factor, _ answer: OktaEngineAnswer) async throws -> SignInStep<OktaSession> {
        for form in answer.forms {
            if let way = ways(form, answer).first(where: { $0.factor.isSame(as: factor) }) {
                return try await take(way, form)
            }
        }
        return try await choose(method: factor, answer) ?? .ask(Challenge(factor: factor))
    }

    /// How often one factor's code is sent in a flow without a wish for another.
    private static let maximumSent = 3

    private mutating func take(_ way: Way, _ form: OktaForm) async throws -> SignInStep<OktaSession> {
        let channels = channels(of: form["authenticator"]?.options[way.option].field("channel"))
        if channels.count > 1 {
            pending = way.factor.id
            return .choose(channels.map(\.factor))
        }
        if way.wantsPhoneNumber {
            pending = way.factor.id
            return .ask(Challenge(factor: Factor(key: .phoneNumber, providerName: way.factor.providerName)))
        }
        return try await post(way, form)
    }

    /// Posts the choice of a way, with the phone number or the channel that it wants.
    mutating func post(
        _ way: Way,
        _ form: OktaForm,
        phoneNumber: Secret? = nil,
        channel: Int? = nil
    ) async throws -> SignInStep<OktaSession> {
        let factor = way.factor
        let sends = factor.key.isSent || factor.key == .push
        if sends {
            let count = sent[factor.id ?? "", default: 0] + 1
            guard count <= Self.maximumSent else { throw circles }
            sent[factor.id ?? ""] = count
        }
        var values: [String: JSONValue] = [:]
        if form["identifier"] != nil { values["identifier"] = .string(identifier) }
        if let phoneNumber { values["authenticator.phoneNumber"] = .string(phoneNumber.reveal()) }
        var choices = ["authenticator": way.option]
        if let method = way.method { choices["authenticator.methodType"] = method }
        choices["authenticator.channel"] = channel
        return try await post(
            form,
            values,
            choosing: choices,
            // Where nobody is sent anything, choosing twice is choosing once; but the answer may bring a new proof of the
            // flow, and the password is behind it: what became of it is read.
            resend: .spending,
            purpose: sends ? .engineSending : .engine
        )
    }

    /// Submits the phone number that was asked for.
    mutating func submit(phoneNumber: Secret) async throws -> SignInStep<OktaSession> {
        guard let answer else { throw missing("authenticator-enrollment-data") }
        if let pending {
            for form in answer.forms {
                if let way = ways(form, answer).first(where: { $0.factor.id == pending }) {
                    self.pending = nil
                    return try await post(way, form, phoneNumber: phoneNumber)
                }
            }
        }
        guard let form = answer.form("authenticator-enrollment-data") else {
            throw missing("authenticator-enrollment-data")
        }
        let values: [String: JSONValue] = ["authenticator.phoneNumber": .string(phoneNumber.reveal())]
        let isChosen = form["authenticator.methodType"]?.options.isEmpty ?? true
        return try await post(
            form,
            values,
            choosing: isChosen ? [:] : ["authenticator.methodType": 0],
            resend: .spending,
            purpose: .engineSending
        )
    }

    /// A form that wants the method of an authenticator, or a phone number.
    mutating func give(data form: OktaForm, _ answer: OktaEngineAnswer) async throws -> SignInStep<OktaSession>? {
        if form["authenticator.phoneNumber"].map({ $0.value == nil }) ?? false {
            let type = answer.current?.type ?? "phone"
            return .ask(Challenge(factor: Factor(key: .phoneNumber, providerName: type)))
        }
        let methods = form["authenticator.methodType"]?.options ?? []
        guard methods.count > 1 else {
            let choices = methods.isEmpty ? [:] : ["authenticator.methodType": 0]
            return try await post(form, choosing: choices, resend: .spending, purpose: .engineSending)
        }
        return .choose(methodFactors(form, answer).map(\.factor))
    }

    /// The methods of one authenticator.
    private func methodFactors(_ form: OktaForm, _ answer: OktaEngineAnswer) -> [(factor: Factor, index: Int)] {
        (form["authenticator.methodType"]?.options ?? []).enumerated().compactMap { index, option in
            let method = option.value?.string
            guard let key = OktaAuthenticator.factorKey(answer.current?.key ?? "", method) else { return nil }
            let factor = Factor(
                key: key,
                providerName: method ?? "method",
                destination: answer.current?.destination,
                id: "method/\(method ?? String(index))"
            )
            return (factor, index)
        }
    }

    /// Goes on with the method that was chosen; nil if it is none of those.
    mutating func choose(method factor: Factor, _ answer: OktaEngineAnswer) async throws -> SignInStep<OktaSession>? {
        for form in answer.forms where form.name.hasPrefix("authenticator-") {
            guard let found = methodFactors(form, answer).first(where: { $0.factor.isSame(as: factor) }) else {
                continue
            }
            return try await post(
                form,
                choosing: ["authenticator.methodType": found.index],
                resend: .spending,
                purpose: .engineSending
            )
        }
        return nil
    }

    /// The factor that is under way, as it stands among those that could be chosen in its place.
    func standing(_ key: Factor.Key, _ current: OktaAuthenticator) -> Factor {
        let name = current.name(current.method)
        let offered = answer.map { answer in
            answer.forms.filter { $0.name.hasPrefix("select-authenticator-") }.flatMap { form in
                ways(form, answer).filter { way in
                    let related = form["authenticator"].flatMap { answer.related(to: $0.options[way.option]) }
                    return related?.id == current.id && way.factor.key == key && way.factor.providerName == name
                }
            }
        }
        return offered?.first?.factor
            ?? Factor(key: key, providerName: name, destination: current.destination, id: current.id)
    }

    // MARK: Beside

    /// What can be done in place of what is asked: other authenticators, a recovery, another page, an unlock.
    func alternatives(_ answer: OktaEngineAnswer) -> [Factor] {
        var factors = answer.forms.filter { $0.name.hasPrefix("select-authenticator-") }.flatMap { ways($0, answer) }
            .map(\.factor)
        if answer.current?.action("recover") != nil {
            factors.append(Factor(key: .newPassword, providerName: "recover", id: "action/recover"))
        }
        factors += launches(answer) + otherChannels(answer)
        for form in answer.forms
        where ["unlock-account", "select-identify", "select-enroll-profile"].contains(form.name) && !form.isLink {
            factors.append(Factor(key: .text, providerName: form.name, id: "form/\(form.name)"))
        }
        return factors + links(answer)
    }

    /// Having Okta Verify opened on the person's device.
    func launches(_ answer: OktaEngineAnswer) -> [Factor] {
        answer.forms.filter { $0.name == Self.launch && !$0.isLink }
            .map { Factor(key: .push, providerName: $0.name, id: "form/\($0.name)") }
    }

    /// The pages of identity providers that the answer names, those for smart cards (PIV) included.
    func links(_ answer: OktaEngineAnswer) -> [Factor] { pages(answer).map(\.factor) }

    private func pages(_ answer: OktaEngineAnswer) -> [(factor: Factor, href: String)] {
        let entries = (answer.body["remediation"]?["value"]?.array ?? []).prefix(32)
        return entries.compactMap { entry in
            guard let form = entry["name"]?.string, ["redirect-idp", "piv-idp"].contains(form),
                let href = entry["href"]?.string
            else { return nil }
            let type = entry["type"]?.string
            let factor = Factor(
                key: .redirect,
                providerName: type?.bounded(to: 256) ?? form,
                destination: (entry["idp"]?["name"]?.string ?? type)?.bounded(to: 256),
                id: "link/\(Fingerprint.text(of: href))"
            )
            return (factor, href)
        }
    }

    /// Sends the person to an identity provider.
    func visit(_ answer: OktaEngineAnswer, _ factor: Factor) -> SignInStep<OktaSession> {
        let href = pages(answer).first { $0.factor.isSame(as: factor) }?.href
        let isCard = ["X509", "piv-idp"].contains(factor.providerName)
        let prompt = isCard ? "The page reads a smart card: have yours in the reader of the browser's machine." : nil
        return .ask(Challenge(factor: factor, prompt: prompt, url: href.map { Secret($0) }))
    }

    /// Goes on behind an identity provider: with the code that the browser has brought back, or where the flow stands.
    mutating func submit(returned url: Secret) async throws -> SignInStep<OktaSession> {
        let query = url.reveal().split(separator: "?", maxSplits: 1).dropFirst().first ?? ""
        let fields = FormFields(parsing: query.prefix { $0 != "#" }.utf8)
        guard let interaction, fields["state"].first == interaction.state, fields["state"].count == 1 else {
            var error = failure(.invalidRequest, [.restartFlow])
            (error.outcome.code, error.outcome.parameter) = ("state_mismatch", "state")
            throw error
        }
        if let code = fields["interaction_code"].first { return try await finish(returned: code) }
        // More is wanted than the other page has proved.
        guard let word = fields["error"].first?.reveal(), word != "interaction_required" else {
            return try await resync()
        }
        let detail = fields["error_description"].first?.reveal().bounded(to: 1024)
        let known = OAuthError.Word(rawValue: word.bounded(to: 256))
        let refused = OAuthError(word: known, detail: detail).outcome(presented: nil)
        var outcome = refused ?? Outcome(.unknown)
        (outcome.processed, outcome.code, outcome.message) = (.yes, word.bounded(to: 256), detail)
        throw RecoveryError(outcome: outcome, reason: .notRecoverable)
    }
}
