/// What the help says beside the options.
enum HelpText {
    static let discussion = """
        COMMANDS
          sign-in    Signs in. Asks for what is needed, or takes it
                     from --answers.
          status     Tells whether there is a session, as the server
                     sees it.
          get PATH   Requests a path below the base URL with the
                     session's credential; the body goes to standard
                     output.
          request PATH
                     The same with any method, header fields and body:
                     -X, -H and -d mean what they mean to curl, but
                     that -d @FILE is sent as it is.
          token      Prints the access token and nothing else, renewed
                     first if it has run out: at clerk a session token;
                     where a session is all there is (okta without an
                     app, forgerock without a client) what that is known
                     by. On a terminal --show is needed.
          refresh    Renews the session's token.
          sign-out   Ends the session.
          classify   Reads logged exchanges, one JSON object a line, on
                     standard input and tells what each means.
          explain    Reads one response on standard input, as curl -i
                     prints it, and tells in words what it means.
          The last two ask no server and need no --base-url. A line for
          classify is such as
            {"name": "n1", "request": {"method": "GET", "path": "/v1/me",
              "presented": "access"}, "status": 401, "headers": {},
              "body": ""}
          with "client_now" for the clock of who asked (epoch seconds); a
          status of 0 is no answer, and then "error" is never_sent,
          not_processed or unknown.
          profiles   Lists the profiles.
          save-profile NAME
                     Keeps the options it is given as a profile.

        COMMANDS AT CLERK ALONE
          finish-tasks           Does what a session is pending for.
          sessions               Tells the sessions on all devices.
          revoke ID              Ends one of them.
          forget-device          Ends all on this device, and forgets it.
          environment            Tells how the instance is set up.
          join-waitlist ADDRESS  Puts an address on its waitlist.
          sign-up                Signs somebody up; asks for what is needed.
          factors                Tells what one can prove oneself with.
          add-factor KIND        Sets up totp, backup_code, email_code,
                                 phone_code or webauthn (with
                                 --software-key).
          remove-factor ID       Takes totp, an e-mail address, a phone
                                 number or a passkey away.
          make-primary ID        Makes an address or a number the one
                                 that clerk writes to first.

        ANSWERS
          A JSON object with the keys password, email_code, phone_code,
          totp, backup_code, new_password, security_answer, text,
          email_link, phone_number (to set one up), captcha (the proof
          of one that was solved elsewhere), redirect (where a browser
          came back), webauthn (the word unsupported, or a raw outcome),
          push (the word resend has another one sent after one that
          nobody answered) and choice (an answer key, the provider's own
          factor name, or yes or no; of a locked Okta account EMAIL or
          SMS). An array is taken in order, a text is an array of one;
          nothing is sent twice. A choice is for the first question that
          offers it, and a sign-in that begins again keeps to it.
          Without choice, a factor whose answer is at hand is taken.
          What may ask too takes --answers as well: get and request at
          forgerock and auth0, where a stronger proof may be wanted
          first, refresh and token at auth0, and sign-up, finish-tasks,
          revoke, add-factor, remove-factor and make-primary; a new
          e-mail address stands under text. For oauth and facebook
          sign-in shows a code to enter in a browser, and needs no
          answers.

        IN A BROWSER
          With --redirect-uri on this machine, such as
          http://127.0.0.1/callback, sign-in goes through a browser at
          clerk (--at says at whom), facebook, auth0 (--way browser)
          and oauth: the address is shown, and opened by the program
          that BROWSER names, or on a desktop by its own; the program
          listens where the browser comes back, at a port of its own
          where none is named. If the browser comes back elsewhere,
          the address at which it did is asked for. The link of an
          e-mail of clerk's comes back so too; with --link-page it may
          be opened on any device instead, and is waited for.

        AT A PROMPT
          ?        tells what can be typed
          resend   has another code or confirmation sent
          other    goes on with another way to prove that it is you
          Ctrl-C   ends the command, at a prompt and in every wait; a
                   token renewal that is under way is finished, until
                   Ctrl-C is pressed again

        PROFILES AND ENVIRONMENT
          --profile NAME takes options from the file
          auth-client/profiles/NAME.json below $XDG_CONFIG_HOME or
          ~/.config: a JSON object whose keys are the options' long names
          without dashes, such as {"provider": "clerk", "base-url": "…"}; a
          flag is true or false (which means its opposite, if it has one:
          --no-allow-sign-up), what may be repeated an array. Every long
          option can stand in the environment, too: --base-url as
          AUTH_CLIENT_BASE_URL, --tlsv1.3 as AUTH_CLIENT_TLSV1_3. What is written on the command line comes
          first, then the environment, then the profile. What belongs to
          another command than the present one is left out, and so is what
          something nearer excludes; an unknown key in a profile, or one that
          stands there twice, is an error.

        SECRETS
          What stands among a program's arguments can be read by every
          user of the machine: so passwords come from a prompt,
          --password-stdin or --answers, and what the options need from
          the environment (--client-secret-env, --client-token-env,
          --app-secret-env, and --state-env for a URL with a password).

        EXIT STATUS
          0    done
          22   get and request: an HTTP error that says nothing about the
               session, such as a path that was not found, or what
               nobody may
          64   wrong usage
          65   invalid or missing input, or output that cannot be written
          69   the service cannot be used now (timeouts, 5xx, unreadable
               answers)
          75   locked or rate limited, and not waited out
          77   refused
          130  interrupted

        EVENTS
          --events writes one JSON object a line, with event, t_ms (since
          the start) and call (1):
            attempt    n, method, url (without query), transport
            response   n, status, elapsed_ms
            failure    n, kind, code, scope, retry_after_s, processed
            wait       reason, seconds, until
            retry      n, reason
            refresh    outcome: refreshed, joined, rejected or failed
            clear      credential
            fallback   from, to: keys of answers
            challenge  kind: a key of answers; destination, masked
            giving_up  kind, reason, retry_after_s, until
            done       outcome, attempts, waited_s, elapsed_ms
          There is one done, its outcome is ok, failed or cancelled. No
          secret is in any of them. With --events - what is shown to a
          person once goes to standard output.

        THE RESULT FOR PROGRAMS
          --json writes one object as the last line of standard output:
            {"outcome": "ok|failed|cancelled", "provider": …,
             "session": {"id", "status", "expires_at"} or null,
             "failure": {"kind", "code", "message", "param", "retry_at",
               "remedies": […]} or null}
          Times are of RFC 3339, or null. No token is in it, and token
          prints a token in its place.

        EXAMPLES
          auth-client --provider clerk --base-url https://clerk.example.com \\
            sign-in --identifier ada@example.com
          auth-client --provider clerk --base-url https://clerk.example.com \\
            get /v1/me
          auth-client --provider oauth --base-url https://id.example.com \\
            --client-id cli --scope 'openid offline_access' sign-in
          auth-client --provider okta --org https://example.okta.com \\
            --token-file session.json sign-in --identifier ada@example.com
          auth-client --provider okta --org https://example.okta.com \\
            --client-id 0oa1 --redirect-uri com.example.cli:/callback sign-in
          auth-client --provider forgerock --base-url https://id.example.com/am \\
            --realm alpha --journey Login sign-in --identifier ada
          FACEBOOK_CLIENT_TOKEN=… auth-client --provider facebook \\
            --base-url https://graph.facebook.com --app-id 1234 \\
            --client-token-env FACEBOOK_CLIENT_TOKEN sign-in
          auth-client --provider auth0 --client-id abc \\
            --base-url https://example.eu.auth0.com sign-in
          auth-client --provider clerk --base-url https://clerk.example.com \\
            --at google --redirect-uri http://127.0.0.1:8400/done sign-in
          auth-client --provider clerk --base-url https://clerk.example.com \\
            --way sign_in_or_up sign-in --identifier new@example.com
          auth-client --provider auth0 --client-id abc --way device \\
            --base-url https://example.eu.auth0.com sign-in
          auth-client --provider clerk --base-url https://clerk.example.com \\
            save-profile work
          auth-client --profile work request -X PATCH -d first_name=Ada /v1/me
          curl -H "Authorization: Bearer $(auth-client --profile work token)" \\
            https://api.example.com/items
          auth-client --provider clerk classify < exchanges.jsonl
          curl -si https://clerk.example.com/v1/client | \\
            auth-client --provider clerk explain
        """
}
