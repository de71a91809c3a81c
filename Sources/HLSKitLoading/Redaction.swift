/// Removes secrets from URLs and texts before they are written or shown. All redaction happens here.
///
/// It removes user information before an `@`, and the values of secret parameters in queries, fragments and paths. The
/// names below determine which parameters are secret.
package enum Redaction {
    package static let mark = "..."

    /// Returns a URL without secrets. For a `data:` URL, which may contain a key, only the scheme remains.
    package static func url(_ text: String) -> String {
        if text.utf8.count >= 5, text.prefix(5).lowercased() == "data:" { return "data:" + mark }
        return redacted(text, isURL: true)
    }

    /// Returns a URL without secrets, query and fragment.
    package static func urlWithoutQuery(_ text: String) -> String {
        url(String(text.prefix { $0 != "?" && $0 != "#" }))
    }

    /// Returns a URL with its secret parameters but without user information, which is sent in another form.
    package static func withoutUserInfo(_ text: String) -> String {
        redacted(text, isURL: true, keepsParameters: true)
    }

    package static func text(_ text: String) -> String { redacted(text, isURL: false) }

    // MARK: Names

    /// In lower case, without `-`, `_` and `.`.
    private static let names: Set<String> = [
        "auth", "authorization", "hdnea", "hdnets", "hdntl", "hdnts", "hmac", "jwt", "md5", "pass", "policy", "pwd",
        "sas",
        "sid", "sig", "sign", "ticket", "verify",
    ]
    private static let endings = [
        "accesskeyid", "apikey", "credential", "hmac", "passwd", "password", "secret", "sessionid", "signature",
        "token",
        "tokenhash",
    ]

    package static func isSecret(name: some StringProtocol) -> Bool {
        isSecret(Array(name.utf8)[...])
    }

    private static func isSecret(_ bytes: ArraySlice<UInt8>) -> Bool {
        let plain = bytes.filter { !"-_.".utf8.contains($0) }.map { (0x41...0x5A).contains($0) ? $0 | 0x20 : $0 }
        let name = String(decoding: plain, as: UTF8.self)
        return names.contains(name) || endings.contains { name.hasSuffix($0) }
    }

    // MARK: Texts

    private static func redacted(_ text: String, isURL: Bool, keepsParameters: Bool = false) -> String {
        guard text.utf8.contains(where: { $0 == UInt8(ascii: "=") || $0 == UInt8(ascii: "@") }) else { return text }
        var scanner = Scanner(Array(text.utf8), isURL: isURL, keepsParameters: keepsParameters)
        return scanner.run() ? String(decoding: scanner.output, as: UTF8.self) : text
    }

    private struct Scanner {
        let bytes: [UInt8]
        let isURL: Bool
        let keepsParameters: Bool
        var output: [UInt8] = []
        private var index = 0
        private var isInQuery = false
        private var hasChanged = false

        init(_ bytes: [UInt8], isURL: Bool, keepsParameters: Bool) {
            self.bytes = bytes
            self.isURL = isURL
            self.keepsParameters = keepsParameters
            output.reserveCapacity(bytes.count)
        }

        mutating func run() -> Bool {
            while index < bytes.count {
                let byte = bytes[index]
                if byte == UInt8(ascii: "?") || byte == UInt8(ascii: "#") { isInQuery = true }
                if ends(byte) { isInQuery = false }
                if byte == UInt8(ascii: "/"), index + 1 < bytes.count, bytes[index + 1] == byte, beginsAuthority {
                    skipUserInfo()
                } else if beginsName, let end = secretName() {
                    output += bytes[index..<end]
                    output.append(UInt8(ascii: "="))
                    index = end + 1
                    skipValue()
                } else {
                    output.append(byte)
                    index += 1
                }
            }
            return hasChanged
        }

        private func ends(_ byte: UInt8) -> Bool {
            !isURL
                && (byte <= 0x20 || byte == UInt8(ascii: "\"") || byte == UInt8(ascii: "<")
                    || byte == UInt8(ascii: ">"))
        }

        private var beginsAuthority: Bool {
            guard index > 0 else { return true }
            let before = bytes[index - 1]
            return before == UInt8(ascii: ":") || ends(before)
        }

        private mutating func skipUserInfo() {
            output += bytes[index..<index + 2]
            index += 2
            var end = index
            while end < bytes.count, !"/?#".utf8.contains(bytes[end]), !ends(bytes[end]) { end += 1 }
            guard let at = bytes[index..<end].lastIndex(of: UInt8(ascii: "@")) else { return }
            index = at + 1
            hasChanged = true
        }

        private var beginsName: Bool {
            if keepsParameters { return false }
            guard index > 0 else { return true }
            let before = bytes[index - 1]
            return "?&;/#~,'(".utf8.contains(before) || ends(before)
        }

        /// Returns the index of the `=` if the name of a secret begins here.
        private func secretName() -> Int? {
            var end = index
            while end < bytes.count, bytes[end].isPartOfName { end += 1 }
            guard end > index, end < bytes.count, bytes[end] == UInt8(ascii: "="),
                Redaction.isSecret(bytes[index..<end])
            else { return nil }
            return end
        }

        private mutating func skipValue() {
            let start = index
            let closing = isInQuery ? "&#" : "/?#&;"
            while index < bytes.count, !closing.utf8.contains(bytes[index]), !ends(bytes[index]) { index += 1 }
            output += Array(Redaction.mark.utf8)
            if bytes[start..<index] != Array(Redaction.mark.utf8)[...] { hasChanged = true }
        }
    }
}

extension UInt8 {
    fileprivate var isPartOfName: Bool {
        (0x30...0x39).contains(self) || (0x41...0x5A).contains(self) || (0x61...0x7A).contains(self)
            || "-_.".utf8.contains(self)
    }
}
