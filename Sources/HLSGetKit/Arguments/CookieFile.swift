import FoundationEssentials
import Glibc

/// A cookie file in Netscape format (`cookies.txt`) or in JSON.
///
/// A Netscape file is passed to libcurl unchanged. JSON is what browser extensions and test tools export.
enum CookieFile {
    private static let maximumByteCount = 16 << 20

    /// The path of a file in Netscape format with the same cookies.
    ///
    /// - Throws: An error if the file is unreadable, or is JSON without cookies.
    static func path(_ path: String) throws(ArgumentValueError) -> String {
        if access(path, F_OK) != 0, path.contains("=") {
            throw ArgumentValueError(
                "is a file; write -H 'Cookie: \(TerminalText.escaped(String(path.prefix { $0 != "=" })))=…'")
        }
        let path = try FileArgument.readable(path)
        guard let bytes = try? FileBytes.read(path, atMost: maximumByteCount),
            let first = bytes.first(where: { ![0x09, 0x0A, 0x0D, 0x20, 0xEF, 0xBB, 0xBF].contains($0) })
        else { return path }
        guard first == UInt8(ascii: "[") || first == UInt8(ascii: "{") else {
            let lines = String(decoding: bytes, as: UTF8.self).split(whereSeparator: \.isNewline)
            // A cookie has seven fields; libcurl also accepts `Set-Cookie:` lines.
            let isOfCookies = lines.contains { line in
                line.split(separator: "\t", omittingEmptySubsequences: false).count >= 7
                    || line.lowercased().hasPrefix("set-cookie:")
            }
            let isHeader = lines.allSatisfy { $0.hasPrefix("#") }
            guard isOfCookies || isHeader else {
                throw ArgumentValueError("has no cookies in the form of cookies.txt or of JSON")
            }
            return path
        }
        let text = try netscape(fromJSON: bytes)
        // Cookies are secret, so use an unnamed file that is deleted with the process.
        let file = try StandardInput.unnamedFile()
        do { try FileBytes.write(text, to: file) } catch {
            throw ArgumentValueError("the cookies cannot be stored: \(FileBytes.text(of: error))")
        }
        return "/proc/self/fd/\(file)"
    }

    /// Converts the export of a browser extension to lines of `cookies.txt`. The export is a list of cookies, or an
    /// object with a list named `cookies`.
    static func netscape(fromJSON bytes: [UInt8]) throws(ArgumentValueError) -> String {
        let decoder = JSONDecoder()
        let data = Data(bytes)
        let cookies: [Exported]
        if let list = try? decoder.decode([Exported].self, from: data) {
            cookies = list
        } else if let object = try? decoder.decode(Wrapped.self, from: data) {
            cookies = object.cookies
        } else {
            throw ArgumentValueError("neither cookies.txt nor the JSON that browsers' extensions export")
        }
        let lines = cookies.compactMap(\.line)
        guard !lines.isEmpty else { throw ArgumentValueError("the file contains no cookies") }
        return (["# Netscape HTTP Cookie File"] + lines).map { $0 + "\n" }.joined()
    }

    private struct Wrapped: Decodable {
        var cookies: [Exported]
    }

    private struct Exported: Decodable {
        var domain: String
        var name: String
        var value: String
        var path: String?
        var secure: Bool?
        var httpOnly: Bool?
        var hostOnly: Bool?
        var expirationDate: Double?
        var expires: Double?

        /// Domain, subdomain flag, path, https-only flag, expiration in seconds since 1970, name, value.
        var line: String? {
            let fields = [domain, path ?? "/", name, value]
            guard !domain.isEmpty, !name.isEmpty, fields.allSatisfy({ !$0.contains { $0 == "\t" || $0.isNewline } })
            else {
                return nil
            }
            let isOfSubdomains = hostOnly.map { !$0 } ?? domain.hasPrefix(".")
            let bare = domain.hasPrefix(".") ? String(domain.dropFirst()) : domain
            let host = (httpOnly == true ? "#HttpOnly_" : "") + (isOfSubdomains ? "." : "") + bare
            // 0 means until the end of the session; some tools write -1 for that.
            let end = (expirationDate ?? expires).map { min(max(0, $0), 1e12) } ?? 0
            return [
                host, isOfSubdomains ? "TRUE" : "FALSE", path ?? "/", secure == true ? "TRUE" : "FALSE",
                String(Int(end)), name, value,
            ].joined(separator: "\t")
        }
    }
}
