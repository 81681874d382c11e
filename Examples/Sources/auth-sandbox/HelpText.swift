import AuthSandbox

/// What the help says beside the options.
enum HelpText {
    static let discussion = """
        It serves Clerk's Frontend API below /v1 (with any path before it), Okta below /api/v1, PingAM, Facebook's \
        Graph below a version such as /v25.0, Auth0 below /auth0, and an OAuth 2 and OpenID Connect provider, and \
        prints the line "listening on http://HOST:PORT" when it is ready, then each code that it \
        would have sent and each request. Ctrl-C ends it.

        PEOPLE. The password of each of them is \(SandboxScenario.defaultPassword).
          ada@example.com       the password is enough; e-mail codes work too
          grace@example.com     then TOTP (secret JBSWY3DPEHPK3PXP) or one of the
                                backup codes backup-0001 to backup-0005
          linus@example.com     the password is compromised: e-mail code, then
                                a new password
          alan@example.com      compromised too: e-mail code, TOTP (the same
                                secret), then a new password
          margaret@example.com  locked for 5 seconds by the third failure
          katherine+clerk_test@example.com
                                device trust: e-mail code 424242 on a new client
          edsger@example.com    then a code to the phone +4930123456
          barbara@example.com   no password: an e-mail code
          dennis@example.com    the password is in a breach list: reset it with
                                an e-mail code
          ken@example.com       locked until somebody unlocks
          radia@example.com     banned
        At Okta these are more than a password; elsewhere it is enough.
          frances@example.com   the password has expired; then TOTP
          whitfield@example.com the password expires soon
          hedy@example.com      a push, approved after two polls
          niklaus@example.com   a push, rejected
          tim@example.com       a push that nobody answers
          vint@example.com      a push with the number 42 to choose
          donald@example.com    locked, and told so: text message 424242, then
                                the answer seven
          shafi@example.com     WebAuthn, or TOTP
          leslie@example.com    has to set up text messages
          jean+clerk_test@example.com
                                a question (Rex), a text message or an e-mail
                                (both 424242), or TOTP
        Without a scenario that says otherwise, one address may begin 5 sign-ins and make 3 attempts in 10 seconds.

        OAUTH. /.well-known/openid-configuration tells the endpoints: /oauth/token, /oauth/device, /oauth/revoke, \
        /oauth/introspect, /authorize and /userinfo; the same are below /oauth2/default, where the token endpoint \
        is /oauth2/default/v1/token. /api/* and /resource are protected resources. Refresh tokens rotate: one that \
        was replaced still works for 30 seconds, and after that its use revokes the whole family of tokens. The \
        clients:
          cli      public, with PKCE or the device grant
          service  the secret is service-secret
          robot    proves itself with private_key_jwt
        A device waits until somebody opens its verification page, or POST /_sandbox/oauth/device decides. \
        POST /_sandbox/oauth/issue {"user": "ada@example.com"} signs somebody in at once.

        OKTA. /api/v1/authn and below it the Authentication API, /api/v1/sessions, /api/v1/users/me, and below \
        /oauth2 and /oauth2/default the OAuth provider, whose /authorize takes a sessionToken. The keys okta of a \
        user and of the settings tell what can be had: factors and what a push is answered with, enrollments, \
        lockouts that are shown or hidden, limits and how their headers look, a clock that is wrong. \
        GET /_sandbox/okta tells how many pushes and codes were sent; POST /_sandbox/okta/push answers one; \
        POST /_sandbox/okta/open_link opens the link of a mail elsewhere, POST /_sandbox/okta/link makes one to \
        recover or \
        activate an account.

        PINGAM. Below /json and /am/json are journeys, sessions and profiles of the realms /, /alpha, /bravo and \
        /alpha/customers; below /am/oauth2 and /oauth2/realms is their OAuth 2 side, with the same clients. People \
        sign in with their e-mail address or with what stands before its @. The fifth wrong password locks. The \
        journeys: Login, LoginLoop, Polling, Push, PushRetry, Suspend, OneTimeCode, MFA, RegisterAuthenticator, \
        WebAuthn, \
        WebAuthnRegistration, ChangePassword, Choice, Profile, Social, SAML, DeviceProfile, DeviceBinding, Unknown, \
        Hologram and StepUp; GET /_sandbox/forgerock tells what each does. \
        /ig/txn, /ig/journey and /ig/app are applications behind a gateway: the first wants a transaction \
        confirmed, the second a stronger journey; /ig/api wants an access token; /ig/rest/txn and /ig/rest/journey ask \
        the policy by themselves.

        FACEBOOK. /v25.0/me and its feed, permissions and accounts, batches, /act_1/insights, the token endpoint, \
        the debugger and device login, with or without a version. The app is 123456789012345, its secret \
        app-secret-of-the-sandbox and its client token client-token-of-the-sandbox. Whoever shows the code of a \
        device at /device, or POST /_sandbox/facebook/device, decides. POST /_sandbox/facebook/issue gives out a \
        token that behaves as one wants: expired, removed, checkpoint (good again after \
        POST /_sandbox/facebook/visit), and more; POST /_sandbox/facebook/block reaches a limit, which calls that \
        come meanwhile make longer. The keys facebook of a user and of the settings tell more.

        AUTH0. Below /auth0: database logins, codes and links in place of passwords, device logins, a login page for \
        browsers, second factors by app, message, e-mail, push and recovery code, which can be set up, refresh \
        tokens that rotate, the profile and password resets, for the client cli. Ten wrong passwords block the name \
        at an address until the link of the mail is opened or POST /_sandbox/auth0/unblock; \
        POST /_sandbox/auth0/push answers a push, POST /_sandbox/auth0/device a device login. The keys auth0 of a \
        user and of the settings tell more.

        CONTROL. GET /_sandbox/ lists what a test can do: read the codes (/_sandbox/outbox) and the requests \
        (/_sandbox/requests), set faults (/_sandbox/faults), move the clock (/_sandbox/clock), lock, revoke, \
        change settings, look at families of tokens (/_sandbox/oauth) at PingAM \
        (/_sandbox/forgerock) and at Facebook (/_sandbox/facebook), begin again. In a browser on the same machine \
        /_sandbox/ is a page that shows people and their passwords, the codes that were sent, and each request as \
        it comes, and switches faults and locks by a click. Pages of other sites can switch nothing.

        FAULTS. What goes wrong is a JSON object, or a list of them: the body of POST /_sandbox/faults, and faults in \
        a scenario file; the page sets them by a click. DELETE /_sandbox/faults takes all away, with ?id=N one.
          http-recover -d '{"kind": "status", "status": 429, "retry_after": 3}' \\
              http://127.0.0.1:8080/_sandbox/faults
          http-recover -X DELETE http://127.0.0.1:8080/_sandbox/faults

        Only kind has to be there. The first fault that matches a request strikes, once unless it says otherwise:
          kind        what the client sees:
                      status (503) with a body or an error that fits it
                      envelope: status with an error of the form envelope
                      html: a proxy's page (502); empty: no body (500)
                      latency: the true answer, delay_ms later
                      trickle: the same, a byte every delay_ms (10)
                      truncate, truncate_reset: half of its body, then an end
                      or a reset
                      reset_before, close_before: no answer, and the request
                      has no effect; reset_after, close_after: it has one
                      hang: nothing, for ever; garbage: what is not HTTP
                      rotate_token: the true answer with a new client token
          match       which requests: {"method": "POST", "path": "/v1/client",
                      "grant": "refresh_token"}; a path with * in it is a
                      pattern for the whole, one without a beginning
          status, headers, body
                      of the answer, where the kind does not say
          retry_after seconds, date:SECONDS, huge or any text
          code, message, meta
                      of the error that the sandbox makes
          envelope    the error's form, if not the provider's usual one: A, B, C,
                      D, E, two, A+client (clerk), okta, am, am+number,
                      am-reason, am+top, am1 (pingam), fb, fb-string, fb-flat,
                      fb-text, fb-login, fb-jsonp, fb-site, fb-unavailable
                      (facebook), auth0, auth0_database
          delay_ms    how long the answer is held back, for every kind
          times       how often it strikes (1); 0 is until it is removed
          skip        how many requests that match go free first
          percent     of a hundred of them, how many it strikes (100)
          processed   whether the request has its effect, if not as the kind
                      has it
        A key or a word that is none is answered with those that there are.

        SCENARIO. A JSON object with the keys users, default_users, oauth, settings and faults; the keys of each \
        are described with the types SandboxScenario, SandboxUser, SandboxOAuthClient, SandboxSettings, \
        SandboxOAuthSettings, SandboxOktaUser, SandboxOktaSettings, SandboxForgeRockSettings, SandboxFacebookUser, \
        SandboxFacebookSettings, SandboxAuth0User, SandboxAuth0Settings and SandboxFault. For example, without rate \
        limits, with access tokens that live two \
        seconds, and with one more person:
          {"settings": {"rate_limits": false, "oauth": {"access_lifetime_s": 2}},
           "users": [{"emails": "eva@example.com", "password": "open-sesame-42",
                      "lockout": {"threshold": 2, "duration_s": 3}}]}

        PROXY. With --upstream the program stands before any HTTP server and serves no provider: each request goes \
        on to that server, with its path behind that of the URL, and the answer comes back as it is, unless a fault \
        strikes that was set at /_sandbox/faults or in the scenario file. reset_before, close_before, hang, status, \
        envelope, html, empty and garbage keep their request from the server; latency, trickle, truncate, \
        truncate_reset, reset_after, close_after and rotate_token strike when the server has answered, and so does \
        any fault with "processed": true. A server that cannot be reached, or answers with something else than \
        HTTP/1.1, is told of with 502, one that takes longer than --upstream-timeout with 504, each with a JSON \
        body that names the reason. Bodies may have 16 MiB, heads 64 KiB. Nothing is sent twice, redirections are \
        not followed, links in answers are left alone. There is no TLS: for an https server start a terminator \
        beside it and say by --upstream-host what the server is called:
          socat TCP-LISTEN:8443,bind=127.0.0.1,reuseaddr,fork \\
              OPENSSL:api.example.com:443
          auth-sandbox --upstream http://127.0.0.1:8443 \\
              --upstream-host api.example.com
        Of /_sandbox/ there are the page, requests, faults, clock, state and reset; of a scenario file only the \
        faults count.

        EXIT. 0 after SIGTERM, 130 after Ctrl-C, 64 for bad usage, 65 for a scenario file that is not one, \
        69 when the address cannot be listened on, or the upstream's name cannot be looked up.
        """
}
