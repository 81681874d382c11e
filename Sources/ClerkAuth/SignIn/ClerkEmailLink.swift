public import AuthRecovery
import HTTPRecovery

/// A link that was sent by e-mail and is still to be opened.
///
/// Only who holds its proof can use what the link leads to. A service keeps it, in a place that only it can read, until
/// the browser comes back; Clerk's links live for ten minutes.
public struct ClerkEmailLink: Sendable, Hashable {
    /// What the address of the way back is bound to (RFC 7636).
    public let proof: OAuthClient.ProofKey

    /// Takes up a link that was kept.
    public init(proof: OAuthClient.ProofKey) {
        self.proof = proof
    }
}

/// Where an e-mail's link has led to: the app's redirect URL with what Clerk has appended.
struct EmailLinkCallback {
    let flowID: Secret
    let approvalToken: Secret

    /// Reads an address; nil if it carries no approval.
    init?(_ address: Secret) {
        // Byte by byte: a sign that joins a character must not hide where the query begins and ends.
        let text = Array(address.reveal().utf8)
        guard let start = text.firstIndex(of: UInt8(ascii: "?")) else { return nil }
        let query = text[(start + 1)...].prefix { $0 != UInt8(ascii: "#") && $0 > 0x20 }
        let fields = FormFields(parsing: query)
        guard let flowID = fields["flow_id"].first, let token = fields["approval_token"].first, !flowID.isEmpty,
            !token.isEmpty, fields["flow_id"].count == 1, fields["approval_token"].count == 1
        else { return nil }
        self.flowID = flowID
        approvalToken = token
    }
}

extension ClerkFactorCalls {
    /// Exchanges what a link has led to for a ticket to sign in with.
    func ticket(
        for callback: EmailLinkCallback,
        proof: OAuthClient.ProofKey,
        until limit: RequestOptions.SendBy? = nil
    ) async throws -> Secret {
        var form = FormFields()
        form.add("flow_id", secret: callback.flowID)
        form.add("approval_token", secret: callback.approvalToken)
        form.add("code_verifier", secret: proof.verifier)
        var call = spending("/client/magic_links/complete", form)
        call.sendBy = limit
        let answer = try await perform(call)
        let ticket = (answer.json["response"]?["ticket"] ?? answer.json["ticket"])?.string
        guard let ticket, !ticket.isEmpty else { throw answer.failure(.unreadable) }
        return Secret(ticket)
    }
}
