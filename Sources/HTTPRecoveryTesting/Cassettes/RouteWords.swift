import HTTPRecovery

/// Which segments of paths are routes, by where they stand.
enum RouteWords {
    /// Whether what follows a segment is a value, however it reads.
    static func announceValue(_ segment: some StringProtocol) -> Bool {
        let word = String(segment).inLowercase
        return announcing.contains(word) || KeptNames.isOfCredential(word)
    }

    private static let announcing: Set<String> = [
        "accept", "accounts", "activate", "activation", "confirm", "confirmation", "customers", "d", "email",
        "emails", "invitation", "invitations", "invite", "join", "key", "keys", "l", "link", "login", "magic",
        "members", "p", "people", "profiles", "recover", "recovery", "reset", "s", "session", "sessions", "share",
        "shared", "t", "u", "unlock", "unsubscribe", "user", "usernames", "users", "verification", "verify",
    ]

    /// Whether a segment is a route's wherever it stands.
    static func hold(_ segment: some StringProtocol) -> Bool {
        let word = String(segment).inLowercase
        if word.utf8.first == UInt8(ascii: "v"), word.utf8.count <= 4 {
            return word.utf8.dropFirst().allSatisfy(\.isDigit)
        }
        return known.contains(word)
    }

    private static let known: Set<String> = [
        "access", "account", "accounts", "actions", "activate", "api", "approve", "attempt", "attempt_first_factor",
        "attempt_second_factor", "attempt_verification", "attempts", "auth", "authenticate", "authn", "authorize",
        "avatar", "batch", "callback", "cancel", "challenge", "challenges", "clients", "codes", "comments",
        "complete", "confirm", "content", "credentials", "delete", "devices", "disable", "download", "edit", "emails",
        "enable", "enroll", "entries", "events", "export", "factors", "feed", "files", "firstfactor", "groups",
        "history", "identify", "images", "introspect", "invitations", "invoices", "items", "keys", "lifecycle",
        "likes", "lines", "lock", "logout", "me", "members", "memberships", "messages", "metadata", "notes",
        "notifications", "oauth", "oauth2", "options", "orders", "organizations", "pages", "payments", "permissions",
        "phone_numbers", "photos", "poll", "posts", "preferences", "prepare", "prepare_first_factor",
        "prepare_second_factor", "prepare_verification", "preview", "profile", "query", "recovery", "refresh",
        "register", "remove", "reports", "resend", "reset", "reset_password", "restore", "results", "revoke", "roles",
        "rules", "search", "secondfactor", "send", "sessions", "settings", "sign_ins", "sign_out", "sign_ups",
        "start", "state", "stats", "status", "subscriptions", "summary", "tags", "tasks", "threads", "token",
        "tokens", "touch", "transactions", "transfer", "unlock", "update", "upload", "userinfo", "users", "validate",
        "verify", "versions", "views", "webhooks",
    ]
}
