import HTTPRecovery
import HTTPTypes

extension Challenge {
    /// The page, in HTML, that takes the browser on to where ``form`` has to be posted; nil where ``url`` alone leads there.
    ///
    /// A web backend answers with it as `text/html; charset=utf-8`, a program on the person's machine serves it on loopback. It
    /// posts by itself, or by its button where scripts may not run, and holds nothing but the form. Nil too for an address that is
    /// neither `http` nor `https`: it would act in the name of who serves the page.
    public var page: Secret? {
        guard let form, let url, (try? HTTPRequest(method: .post, url: url.reveal())) != nil else { return nil }
        let fields = form.pairs.map { name, value in
            "<input type=\"hidden\" name=\"\(Self.escaped(name))\" value=\"\(Self.escaped(value.reveal()))\">"
        }
        return Secret(
            """
            <!doctype html><meta charset="utf-8"><title>Sign-in</title>\
            <body onload="document.forms[0].submit()">\
            <form method="post" action="\(Self.escaped(url.reveal()))">\(fields.joined())\
            <button>Go on</button></form>
            """
        )
    }

    /// A text that cannot leave its place in a page; byte by byte, so that no sign hides one that has a meaning there.
    private static func escaped(_ text: String) -> String {
        var bytes: [UInt8] = []
        for byte in text.utf8 {
            switch byte {
            case UInt8(ascii: "&"): bytes += "&amp;".utf8
            case UInt8(ascii: "<"): bytes += "&lt;".utf8
            case UInt8(ascii: ">"): bytes += "&gt;".utf8
            case UInt8(ascii: "\""): bytes += "&quot;".utf8
            case UInt8(ascii: "'"): bytes += "&#39;".utf8
            default: bytes.append(byte)
            }
        }
        return String(decoding: bytes, as: UTF8.self)
    }
}
