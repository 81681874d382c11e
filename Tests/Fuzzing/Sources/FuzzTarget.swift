/// One reader of data from outside, and what has to hold whatever the data is.
struct FuzzTarget: Sendable {
    let name: String
    /// Reads an input, and ends the process where a promise is broken.
    let run: @Sendable ([UInt8]) -> Void

    static let all: [FuzzTarget] =
        [
            FuzzTarget(name: "hints") { HTTPTargets.readHints($0) },
            FuzzTarget(name: "answers") { HTTPTargets.readAnswer($0) },
            FuzzTarget(name: "times") { HTTPTargets.readTimes($0) },
            FuzzTarget(name: "challenges") { HTTPTargets.readChallenges($0) },
            FuzzTarget(name: "json") { HTTPTargets.readJSON($0) },
            FuzzTarget(name: "urls") { HTTPTargets.readURL($0) },
            FuzzTarget(name: "oauth") { AuthTargets.readOAuth($0) },
            FuzzTarget(name: "tokens") { AuthTargets.readTokens($0) },
            FuzzTarget(name: "id-tokens") { AuthTargets.readIDToken($0) },
            FuzzTarget(name: "credentials") { StoreTargets.readCredentials($0) },
            FuzzTarget(name: "leases") { StoreTargets.readLease($0) },
            FuzzTarget(name: "rows") { StoreTargets.readRow($0) },
            FuzzTarget(name: "suspended") { SuspensionTargets.readSuspended($0) },
            FuzzTarget(name: "policies") { StoreTargets.readPolicy($0) },
            FuzzTarget(name: "scenarios") { StoreTargets.readScenario($0) },
            FuzzTarget(name: "recordings") { StoreTargets.readRecording($0) },
            FuzzTarget(name: "cassettes") { CassetteTargets.readCassette($0) },
            FuzzTarget(name: "redis-replies") { RedisTargets.readReplies($0) },
            FuzzTarget(name: "redis-urls") { RedisTargets.readURL($0) },
            FuzzTarget(name: "live-states") { StateTargets.readLiveState($0) },
            FuzzTarget(name: "requests") { RequestTargets.readRequests($0) },
            FuzzTarget(name: "clerk") { ProviderTargets.readClerk($0) },
            FuzzTarget(name: "okta") { ProviderTargets.readOkta($0) },
            FuzzTarget(name: "okta-engine") { ProviderTargets.readOktaEngine($0) },
            FuzzTarget(name: "forgerock") { ProviderTargets.readForgeRock($0) },
            FuzzTarget(name: "forgerock-scripts") { ProviderTargets.readForgeRockScript($0) },
            FuzzTarget(name: "facebook") { ProviderTargets.readFacebook($0) },
            FuzzTarget(name: "auth0") { ProviderTargets.readAuth0($0) },
            FuzzTarget(name: "curl-heads") { CurlTargets.readHead($0) },
            FuzzTarget(name: "curl-log") { CurlTargets.readLog($0) },
            FuzzTarget(name: "async-heads") { HeadScannerTargets.scanHead($0) },
            FuzzTarget(name: "transcripts") { TranscriptTargets.readTranscript($0) },
        ]
}
