public import AuthRecovery
public import ClerkAuth

/// What a step of a browser's sign-in has led to.
public struct BrowserTurn: Sendable {
    /// What is wanted next.
    public var turn: SignInTurn<ClerkSession>
    /// What tells the browser from all others from now on; it belongs into a cookie that scripts cannot read.
    public var browser: Secret
}
