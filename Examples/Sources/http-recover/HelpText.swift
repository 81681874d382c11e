import ProgramVersion

/// What the help says beside the options.
enum HelpText {
    static let version = ProgramVersion.current

    static let discussion = """
        The body of a single request goes to standard output; for several calls there is one line each: the status, \
        or 000 without an answer. Times are seconds, fractions allowed.

        WHAT IS TRIED AGAIN. Rate limits and outages with a stated delay (Retry-After and its relatives) are waited \
        out: nothing is sent to that server before. Lost connections, timeouts and 5xx are tried again after a random, \
        growing delay. A request is sent again only where that is safe: an idempotent method (GET, HEAD, PUT, DELETE, \
        OPTIONS), proof that the server has not processed it, an idempotency key, or --replayable. Retries are bounded \
        by --max-attempts, by a budget per server, by --max-wait and by --deadline: a wait that could not end in time \
        is not begun. With --breaker a server whose answers are mostly failures is left alone for a while; with --hedge a \
        slow answer is asked for a second time; with -C - a download that breaks off goes on where it did.

        CURL'S HABITS. What curl's options are called here too, and mean the same, so that scripts can be changed by name; \
        short options may stand together (-sSfL, -XPOST). What differs: a request is tried again without --retry; an \
        HTTP error has exit status 22 without -f, which leaves out its body; of several URLs bodies go to files (-o or -O \
        for each) or, with -i, -I or -o -, to standard output; -d @FILE is sent as it is, with its line ends; braces and brackets \
        in URLs mean nothing. Options of curl's that cannot be kept are refused by name with the reason.

        WHEN A BODY GOES OUT. Its first second is held back, up to 1 MiB: if it breaks off in that time it is asked for again. \
        Then it goes out as it comes, and what breaks off is not asked for again; what has come is written when the call fails. \
        With -N all goes out at once. A file appears when it is whole; with -N it is written in place as it comes. With --hedge \
        or another --provider than http a body is whole, or 1 MiB of it is there, before it goes out, unless with -N.

        TRYING IT FIRST. "http-recover simulate" tries such policies on scripts of answers, on virtual time and without a \
        network; see "http-recover simulate --help".

        EXIT STATUS
          0    every answer is a 2xx or 3xx
          22   an HTTP error is left, or the wait would be longer than --max-wait
          28   a timeout, or the deadline passed or would pass while waiting
          7    no connection could be made (name, port, TLS)
          56   the transfer failed: connection lost, broken answer, body too large, or it cannot be written
          64   the program was called wrongly; nothing was sent
          65   a file cannot be opened or read; or lines, -w, heads by themselves, events or recordings not be written
          130  interrupted
        Where the retry budget is used up, it is the status of the failure behind it. An error's stays 22 where its body \
        cannot be written. Of several calls the gravest counts: 130 > 65 > 28 > 7 > 56 > 22.

        EVENTS. --events writes one JSON object a line, with event, t_ms (since the start) and call (from 1):
          attempt    n, method, url (without query), transport
          response   n, status, elapsed_ms
          failure    n, kind, code, scope, retry_after_s, processed
          wait       reason, seconds, until
          retry      n, reason
          refresh    outcome: refreshed, joined, rejected or failed
          clear      credential
          giving_up  kind, reason, retry_after_s, until
          done       outcome, attempts, waited_s, elapsed_ms
        There is one done for each call, its outcome is ok, failed or cancelled. Scopes are endpoint, origin, account, \
        credential, app; processed is no, yes or unknown. No secret is in any of them.

        TIMES. --timings tells the phases of each attempt: when name lookup, connection, TLS handshake, request, first byte \
        and body were over, in milliseconds since the attempt had its place, and the wait for that. -w writes a text with \
        variables when a call has ended, for several calls in place of the line with the status: http_code, response_code, \
        time_namelookup, time_connect, time_appconnect, time_pretransfer, time_starttransfer, time_redirect, time_total, \
        size_download, size_upload, size_header, speed_download, speed_upload, num_connects, num_headers, num_redirects, \
        num_retries, http_version, remote_ip, remote_port, local_ip, local_port, url, url_effective, redirect_url, referer, \
        urlnum, content_type, method, scheme, filename_effective, errormsg, exitcode, header_json, json, as %{NAME}; \
        %header{NAME}; %{stderr} and %{stdout} say where the rest goes, and %{onerror} that it is for failed calls alone. \
        They are about the last attempt; size_download is the body as it came, before it was decompressed. url is the \
        URL as it was written, url_effective what was asked for last: both without user and password, and the second \
        without a fragment and the segments . and .. of the path.

        POLICIES. --policy reads a JSON object with the options of "http-recover simulate" but "provider", such as {"preset": "batch", \
        "breaker": {"failures": 5}}; a preset has all that is absent, each value of a group too, and without one the program's defaults do. An option on \
        the command line counts more than the file. A key that is unknown or stands there twice, or a value that is none, ends with 65.

        RECORDINGS. --record writes, a line for each call, what has happened in it and what was decided: words, times and \
        random numbers, no URL, header, body or token. "http-recover replay FILE" decides it again without sending \
        anything, and ends with 1 where a decision differs; see "http-recover replay --help".

        TOKENS. --token-file holds access_token, refresh_token and expires_at; a value that cannot be understood ends with 65. With --token-url a token that was refused, \
        or has expired, is renewed once for all calls and all processes that use the file, and the request sent again; \
        without it a refused token is removed. The new token is stored before anyone uses it. Nothing is removed because \
        of an outage, a throttle or a missing permission. A renewal that is under way when the program would end is \
        finished: at a deadline it has 2 s for that, and after Ctrl-C a second Ctrl-C ends it at once.

        SECRETS. What stands among a program's arguments can be read by every user of the machine. Where --state or --proxy \
        needs a password, --state-env and --proxy-env take the URL from the environment, as --client-secret-env does.

        STATE. With --state sqlite:PATH or redis://HOST:PORT other runs of the program know of limits and lockouts too, \
        and share the retry budget; redis://HOST,HOST is a cluster, redis+sentinel://HOST,HOST/PRIMARY a primary that \
        Sentinels know. While the store cannot be reached, the program goes by its own memory and says so \
        once.

        WHAT IS TOLD. Errors go to standard error. On a screen, waits are told and counted down; --quiet leaves them out, \
        --plain tells them line by line without a countdown or colour (also set NO_COLOR), --verbose tells every attempt, \
        answer, wait and reason with its time, and the heads of requests (>) and answers (<) without what may be secret. \
        -s is --quiet and leaves out errors too, unless with -S. -i writes heads before bodies, -D to a file.

        REDIRECTS. With --location, credentials are not sent to another server, a body neither, and https is not left \
        for http. Each hop has its own attempts. After a 303, and a 301 or 302 that answers a POST, the method is GET, \
        also in place of that of -X, which curl keeps; 300, 305 and 306 are not followed.

        EXAMPLES
          http-recover https://api.example.com/items
          http-recover -d @order.json -H 'Content-Type: application/json' \\
              --idempotency-key auto https://api.example.com/orders
          http-recover --deadline 10 --max-attempts 5 --backoff 0.2,5 \\
              --events - https://api.example.com/
          http-recover --proxy-env PROXY --state-env STATE https://api.example.com/
          http-recover --token-file tokens.json --client-id app \\
              --token-url https://id.example.com/token https://api.example.com/me
          http-recover -w '\\n%{http_code} %{time_connect} %{time_total}\\n' \\
              https://api.example.com/
          curl -sSfL --retry 5 -o file.zip https://example.com/file.zip   becomes
          http-recover -sSfL --retry 5 -o file.zip https://example.com/file.zip
          http-recover --repeat 100 --concurrency 8 --summary \\
              https://api.example.com/health
        """
}
