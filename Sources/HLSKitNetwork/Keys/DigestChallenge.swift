package import HLSKitLoading
import HLSKitTime

/// A server's `WWW-Authenticate: Digest` challenge (RFC 7616) and the response to it, which proves the knowledge of a
/// password without revealing it.
package struct DigestChallenge: Sendable, Hashable {
    package struct Login: Sendable, Hashable {
        package var name: [UInt8]
        package var password: [UInt8]

        /// Reads the user and password of a `Basic` field. Returns nil for other credentials.
        package init?(_ field: TransportField) {
            let words = field.value.split(separator: " ", maxSplits: 1)
            guard field.isNamed("Authorization"), words.count == 2, words[0].lowercased() == "basic",
                let pair = Base64.decoded(Array(words[1].utf8)), let colon = pair.firstIndex(of: UInt8(ascii: ":"))
            else { return nil }
            name = Array(pair[..<colon])
            password = Array(pair[(colon + 1)...])
        }
    }

    private enum Algorithm: String, CaseIterable {
        case sha512Of256Bits = "SHA-512-256"
        case sha256 = "SHA-256"
        case md5 = "MD5"

        var hash: CryptoLibrary.Hash {
            switch self {
            case .sha512Of256Bits: .sha512Of256Bits
            case .sha256: .sha256
            case .md5: .md5
            }
        }
    }

    private let realm: String
    private let nonce: String
    private let opaque: String?
    private let algorithm: Algorithm
    private let isSession: Bool
    /// The name as the server writes it, or nil if it is absent.
    private let algorithmName: String?
    /// The quality of protection, or nil if the server has none. `auth-int` includes the body of the request.
    private let quality: String?
    private var count = 0

    /// Reads the strongest supported challenge of a response. Returns nil if there is none.
    package init?(_ fields: [TransportField]) {
        let challenges = fields.filter { $0.isNamed("WWW-Authenticate") }.flatMap { Self.challenges(in: $0.value) }
            .compactMap { Self($0) }
        let best = Algorithm.allCases.lazy.compactMap { algorithm in
            challenges.first { $0.algorithm == algorithm }
        }.first
        guard let best else { return nil }
        self = best
    }

    private init?(_ parameters: [String: String]) {
        guard let realm = parameters["realm"], let nonce = parameters["nonce"] else { return nil }
        let name = parameters["algorithm"]?.uppercased() ?? Algorithm.md5.rawValue
        isSession = name.hasSuffix("-SESS")
        guard let algorithm = Algorithm(rawValue: isSession ? String(name.dropLast(5)) : name) else { return nil }
        let qualities = parameters["qop"]?.split(separator: ",").map { $0.filter { $0 != " " }.lowercased() }
        quality = qualities.flatMap { offered in ["auth", "auth-int"].first { offered.contains($0) } }
        guard qualities == nil || quality != nil else { return nil }
        (self.realm, self.nonce, self.algorithm) = (realm, nonce, algorithm)
        opaque = parameters["opaque"]
        algorithmName = parameters["algorithm"]
    }

    /// The `Digest` challenges of a field, which may contain other challenges.
    private static func challenges(in value: String) -> [[String: String]] {
        var challenges: [(scheme: String, parameters: [String: String])] = []
        var rest = Substring(value)
        while true {
            rest = rest.drop { $0 == " " || $0 == "\t" || $0 == "," }
            let word = rest.prefix { !" \t,=".contains($0) }
            guard !word.isEmpty else { break }
            rest = rest[word.endIndex...]
            let after = rest.drop { $0 == " " || $0 == "\t" }
            guard after.first == "=" else {
                challenges.append((word.lowercased(), [:]))
                continue
            }
            rest = after.dropFirst().drop { $0 == " " || $0 == "\t" }
            let text: Substring
            if rest.first == "\"" {
                rest = rest.dropFirst()
                var end = rest.startIndex
                while end < rest.endIndex, rest[end] != "\"" {
                    if rest[end] == "\\" { end = rest.index(after: end) }
                    if end < rest.endIndex { end = rest.index(after: end) }
                }
                text = rest[..<end]
                rest = rest[end...].dropFirst()
            } else {
                text = rest.prefix { $0 != "," && $0 != " " }
                rest = rest[text.endIndex...]
            }
            guard let last = challenges.indices.last, challenges[last].parameters[word.lowercased()] == nil else {
                continue
            }
            challenges[last].parameters[word.lowercased()] = String(text)
        }
        return challenges.filter { $0.scheme == "digest" }.map(\.parameters)
    }

    // MARK: Answering

    /// Returns the field that answers the challenge for a request. Each call returns a different field.
    ///
    /// - Parameter target: The path and query, as they appear in the request.
    /// - Returns: The field, or nil if the hash library is not available.
    package mutating func authorization(
        _ login: Login, method: String, target: String, body: [UInt8] = [],
        clientNonce: String = String(UInt64.random(in: .min ... .max), radix: 16)
    ) -> TransportField? {
        count += 1
        let number = count.hexadecimal(8)
        guard var first = hash([login.name, Array(realm.utf8), login.password]) else { return nil }
        if isSession {
            guard let session = hash([Array(first.utf8), Array(nonce.utf8), Array(clientNonce.utf8)]) else {
                return nil
            }
            first = session
        }
        var request = [Array(method.utf8), Array(target.utf8)]
        if quality == "auth-int" {
            guard let content = hash([body]) else { return nil }
            request.append(Array(content.utf8))
        }
        guard let second = hash(request) else { return nil }
        let parts = quality.map { [first, nonce, number, clientNonce, $0, second] } ?? [first, nonce, second]
        guard let response = hash(parts.map { Array($0.utf8) }) else { return nil }
        var name = ""
        for character in String(decoding: login.name, as: UTF8.self) {
            if character == "\"" || character == "\\" { name.append("\\") }
            name.append(character)
        }
        var text = "Digest username=\"\(name)\", realm=\"\(realm)\", nonce=\"\(nonce)\", uri=\"\(target)\""
        text += ", response=\"\(response)\""
        if let algorithmName { text += ", algorithm=\(algorithmName)" }
        if let opaque { text += ", opaque=\"\(opaque)\"" }
        if let quality { text += ", qop=\(quality), nc=\(number), cnonce=\"\(clientNonce)\"" }
        return TransportField(name: "Authorization", value: text)
    }

    /// Returns the hash, in hexadecimal digits, of the parts joined by colons.
    private func hash(_ parts: [[UInt8]]) -> String? {
        let bytes = Array(parts.joined(separator: [UInt8(ascii: ":")]))
        return CryptoLibrary.hash(of: bytes, algorithm.hash)?.hexadecimalText
    }
}
