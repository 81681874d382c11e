import AsyncHTTPClient
import Auth0Auth
import AuthCryptography
import AuthRecovery
import AuthSandbox
import ClerkAuth
import CurlTransport
import FacebookAuth
import ForgeRockAuth
import Foundation
import FoundationNetworking
import HTTPRecovery
import HTTPRecoveryFoundation
import HTTPRecoveryTesting
import HTTPTypes
import Hummingbird
import Logging
import NIOCore
import OktaAuth
import RecoveryObservability
import RecoveryService
import RedisRecoveryStore
import SQLiteRecoveryStore
import Testing

/// One file that imports what a service on the web has beside this package: every name means one thing.
///
/// It is compiled; that it is compiled is the test.
@Suite struct EveryImportTests {
    private static let hTTPRecovery: [Any.Type] = [
        (any Admission).self, AttemptOptions.self, AttemptTimeout.self, Backoff.self, CallContext.self,
        CallRecording.self, (any ClientLayer).self, (any ContextLayer).self, (any CredentialPresenting).self,
        Deadline.self, Exchange.self, FailureContext.self, HTTPClassifier.self, (any HTTPTransport).self, History.self,
        InMemoryRecoveryStore.self, JSONValue.self, LockoutWait.self, MessageBody.self, Next.self, Origin.self,
        Outcome.self, (any OutcomeClassifier).self, PlannedAttempt.self, PresentedCredential.self,
        RateLimitBackoff.self, RecoveredResponse.self, RecoveringClient.self, Recovery.self, RecoveryError.self,
        RecoveryEvent.self, RecoveryOperation.self, (any RecoveryPolicy).self, (any RecoveryStore).self,
        (any Redacted).self, Redirects.self, RequestOptions.self, RetryBudget.self, Runtime.self, SharedState.self,
        TimeSource.self, Timestamp.self, TransientRetry.self, TransportError.self, TransportResponse.self,
    ]
    private static let authRecovery: [Any.Type] = [
        AdjustedClassifier.self, (any AuthProvider).self, (any AuthSession).self, Authorization.self, Challenge.self,
        (any ChallengeResponder).self, (any ClientAuthentication).self, ClientCredentialsGrant.self,
        (any CredentialSealing).self, Credentials.self, DPoPAuthorization.self, Factor.self, FileTokenStore.self,
        FormFields.self, InMemoryTokenStore.self, LockoutLedger.self, OAuthClassifier.self, OAuthClient.self,
        OAuthError.self, OAuthServer.self, ProviderRequest.self, RefreshTokenGrant.self, Secret.self, ServerClocks.self,
        ServiceURL.self, SessionRenewal.self, SessionSummary.self, SharedTokenStore.self, SignInContext.self,
        SignInFlow<Int>.self, SignInInput.self, (any SignInMachine).self, SignInOptions.self, (any SignInProvider).self,
        SignInRules.self, SignInStep<Int>.self, SignInTurn<Int>.self, SignOutResult.self, SuspendedSignIns.self,
        TokenManager.self, (any TokenRenewer).self, (any TokenStore).self, UnverifiedJWT.self, WebAuthn.self,
    ]
    private static let authCryptography: [Any.Type] = [
        AESGCMSealing.self, AssertionAudience.self, ClientAssertionError.self, ClientSecretJWT.self, DPoPProver.self,
        JSONWebKey.self, PrivateKeyJWT.self, SealingKey.self, SignatureAlgorithm.self, SigningKey.self,
        SigningKeyError.self,
    ]
    private static let auth0Auth: [Any.Type] = [
        Auth0.self, Auth0Classifier.self, Auth0Configuration.self, Auth0Session.self,
        Auth0SignInMethod.self, Auth0UnkeptRecoveryCode.self,
    ]
    private static let clerkAuth: [Any.Type] = [
        Clerk.self, ClerkClassifier.self, ClerkClient.self, ClerkConfiguration.self, ClerkEmailLink.self,
        ClerkFactor.self, ClerkReverification.self, ClerkSession.self, ClerkSessionStatus.self,
        ClerkSessionToken.self, ClerkSignIn.self, ClerkSignInMethod.self, ClerkSignInStatus.self, ClerkSignUp.self,
        ClerkSignUpRequest.self, ClerkSignUpStatus.self, ClerkTokenRenewer.self, ClerkVerification.self,
        InvalidPublishableKey.self, PublishableKey.self,
    ]
    private static let curlTransport: [Any.Type] = [
        CurlTransport.self
    ]
    private static let facebookAuth: [Any.Type] = [
        (any AppSecretProver).self, Facebook.self, FacebookApp.self, FacebookBatchAnswer.self,
        FacebookBatchRequest.self, FacebookClassifier.self, FacebookConfiguration.self, FacebookCoreError.self,
        FacebookErrorCategory.self, FacebookErrorConfiguration.self, FacebookLimitedLoginError.self,
        FacebookLoginError.self, FacebookPacing.self, FacebookPage.self, FacebookPages.self, FacebookPermission.self,
        FacebookSession.self, FacebookShareError.self, FacebookToken.self, FacebookTokenInfo.self, FacebookUpload.self,
        FacebookUsage.self, FacebookUser.self, (any FacebookVendorError).self, HMACAppSecretProver.self,
    ]
    private static let forgeRockAuth: [Any.Type] = [
        (any JourneyCallbackResponder).self, FailedPolicy.self, ForgeRock.self, ForgeRockAction.self,
        ForgeRockClassifier.self,
        ForgeRockConfiguration.self, (any ForgeRockInterceptor).self, ForgeRockSession.self, Journey.self,
        JourneyCallback.self, JourneyOptions.self, JourneyStart.self, JourneyStep.self, JourneySuccess.self,
        NoJourneyCallbackResponder.self, OAuthSettings.self, PolicyAdvice.self, SessionCookie.self, StepUp.self,
        WebAuthnCeremony.self, (any WebAuthnPlatformError).self,
    ]
    private static let hTTPRecoveryTesting: [Any.Type] = [
        ByteMutator.self, ConformanceFailure.self, EventRecorder.self, FaultServer.self, ManualClock.self,
        RecordedExchange.self, RecoveryStoreConformance.self, RefusingPort.self, ScriptedTransport.self,
        StoreUnderTest.self,
    ]
    private static let oktaAuth: [Any.Type] = [
        Okta.self, OktaActivating.self, OktaApp.self, OktaClassifier.self, OktaConfiguration.self, OktaCredentials.self,
        OktaEnrolling.self, OktaFactor.self, OktaFactorAnswer.self, OktaFactorChallenge.self, OktaFactorEnrollment.self,
        OktaFactorRequired.self, OktaFactorResult.self, OktaFactorType.self, OktaLink.self, OktaLinkError.self,
        OktaLinks.self, OktaLockedOut.self, OktaPasswordChange.self, OktaPasswordExpired.self, OktaPasswordPolicy.self,
        OktaPasswordReset.self, OktaPasswordResetting.self, OktaPasswordWarning.self, OktaQuietStep.self,
        OktaRecovery.self, OktaRecoveryChallenge.self, OktaRecoveryRequest.self, OktaSession.self, OktaState.self,
        OktaStatus.self, OktaStep<Int>.self, OktaSucceeded.self, OktaTransaction.self, (any OktaTransactionState).self,
        OktaUnauthenticated.self, OktaUnknownState.self,
    ]
    private static let recoveryObservability: [Any.Type] = [
        Observability.self
    ]
    private static let recoveryService: [Any.Type] = [
        ClientService.self, PolicyReload.self, RenewalService.self, StoreService.self,
    ]
    private static let redisRecoveryStore: [Any.Type] = [
        RedisStore.self
    ]
    private static let sQLiteRecoveryStore: [Any.Type] = [
        SQLiteStore.self
    ]
    private static let authSandbox: [Any.Type] = [
        AuthSandbox.self, SandboxAuth0Settings.self, SandboxAuth0User.self, SandboxError.self,
        SandboxFacebookBehaviour.self, SandboxFacebookCounters.self, SandboxFacebookSettings.self,
        SandboxFacebookUser.self, SandboxFault.self, SandboxForgeRockCounters.self, SandboxForgeRockSettings.self,
        SandboxForgeRockUser.self, SandboxMessage.self, SandboxOAuthClient.self, SandboxOAuthCounters.self,
        SandboxOAuthSettings.self, SandboxOAuthTokens.self, SandboxOktaSettings.self, SandboxOktaUser.self,
        SandboxProvider.self, SandboxRequestRecord.self, SandboxScenario.self, SandboxSettings.self,
        SandboxUpstream.self, SandboxUser.self,
    ]

    /// The names of others that are met most, as they are meant.
    private static let others: [Any.Type] = [
        HTTPClient.self, HTTPRequest.self, HTTPResponse.self, HTTPFields.self, Request.self, Response.self, Logger.self,
        URLRequest.self, URL.self, Data.self, Date.self, ByteBuffer.self, HTTPClientRequest.self, ResponseBody.self,
    ]

    @Test func everyNameMeansOneThing() {
        let all =
            Self.hTTPRecovery + Self.authRecovery + Self.authCryptography + Self.auth0Auth + Self.clerkAuth
            + Self.curlTransport
            + Self.facebookAuth + Self.forgeRockAuth + Self.hTTPRecoveryTesting + Self.oktaAuth
            + Self.recoveryObservability + Self.recoveryService + Self.redisRecoveryStore + Self.sQLiteRecoveryStore
            + Self.authSandbox
            + Self.others
        #expect(Set(all.map { "\($0)" }).count == all.count)
    }
}
