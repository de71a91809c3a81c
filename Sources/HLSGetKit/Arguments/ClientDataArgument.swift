import ArgumentParser
package import HLSKitCore

struct CustomKeyArgument: Sendable, Equatable {
    var name: String
    var value: String
}

package enum ClientDataArgument {
    static func version(_ text: String) throws(ArgumentValueError) -> ClientData.Version {
        guard let version = Int(text).flatMap(ClientData.Version.init(rawValue:)) else {
            throw ArgumentValueError("expected one of: 1, 2")
        }
        return version
    }

    static func keys(_ text: String) throws(ArgumentValueError) -> Set<String> {
        let names = text.split(separator: ",").map { String($0.filter { $0 != " " }) }
        guard !names.isEmpty else { throw ArgumentValueError("expected keys of CMCD, as in br,bl,sid") }
        for name in names
        where !ClientData.Version.allCases.contains(where: { ClientData.isKey(name, in: $0) }) {
            throw ArgumentValueError("\(name) is not a key of CMCD; --cmcd-custom defines custom keys")
        }
        return Set(names)
    }

    static func customKey(_ text: String) throws(ArgumentValueError) -> CustomKeyArgument {
        let parts = text.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false).map(String.init)
        guard parts.count == 2, ClientData.isCustomKey(parts[0]) else {
            throw ArgumentValueError("write a key in lower case and with a prefix, as in com.example-plan=gold")
        }
        return CustomKeyArgument(name: parts[0], value: try name(parts[1], limit: 64))
    }

    static func contentID(_ text: String) throws(ArgumentValueError) -> String { try name(text, limit: 128) }

    static func sessionID(_ text: String) throws(ArgumentValueError) -> String { try name(text, limit: 64) }

    package static func target(_ text: String) throws(ArgumentValueError) -> String {
        let start = text.lowercased()
        guard start.hasPrefix("http://") || start.hasPrefix("https://"), URLOrigin(of: text) != nil else {
            throw ArgumentValueError("expected a URL that begins with http:// or https://")
        }
        return text
    }

    private static func name(_ text: String, limit: Int) throws(ArgumentValueError) -> String {
        guard (1...limit).contains(text.utf8.count), text.utf8.allSatisfy({ (0x20...0x7E).contains($0) }) else {
            throw ArgumentValueError(
                "expected 1 to \(limit) characters, all of ASCII and none of them a control character")
        }
        return text
    }
}

package struct CMCDOptions: Sendable, Equatable {
    var transmission: ClientData.Transmission?
    /// The version, or `nil` for the lowest one that supports the request.
    var version: ClientData.Version?
    var contentID: String?
    package var sessionID: String?
    /// The requested keys, or `nil` for all except `tpb`.
    var keys: Set<String>?
    var customKeys: [CustomKeyArgument] = []
    package var events: [String] = []

    package var clientData: ClientData? {
        guard transmission != nil || !events.isEmpty else { return nil }
        var data = ClientData()
        data.transmission = transmission
        data.version = version ?? (events.isEmpty ? .one : .two)
        data.contentID = contentID
        data.sessionID = sessionID
        data.keys = keys.map { $0.union(customKeys.map(\.name)) }
        for key in customKeys { data.customKeys[key.name] = .string(key.value) }
        data.eventTargets = events.map {
            var target = ClientData.EventTarget(urlString: $0)
            target.keys = data.keys
            return target
        }
        return data
    }

    func check() throws(ArgumentValueError) {
        if version != nil, transmission == nil {
            throw ArgumentValueError("--cmcd-version has no effect without --cmcd; add it")
        }
        if events.isEmpty, clientData?.version == .one,
            let key = keys?.sorted().first(where: { !ClientData.isKey($0, in: .one) })
        {
            throw ArgumentValueError("--cmcd-keys \(key) needs --cmcd-version 2")
        }
        guard clientData == nil else { return }
        if keys != nil { throw ArgumentValueError("--cmcd-keys has no effect without --cmcd; add it") }
        if !customKeys.isEmpty { throw ArgumentValueError("--cmcd-custom has no effect without --cmcd; add it") }
        if contentID != nil { throw ArgumentValueError("--content-id has no effect without --cmcd; add it") }
    }
}
