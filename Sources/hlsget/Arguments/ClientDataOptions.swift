import ArgumentParser
import HLSKitCore

/// What servers are told of the command (CMCD).
struct ClientDataOptions: ParsableArguments, Sendable {
    @Option(
        help: ArgumentHelp(
            "Tell servers of playing and loading (CMCD), in header fields or in the query of URLs.",
            valueName: "headers|query"),
        transform: { try ChoiceArgument.parse($0) })
    var cmcd: ClientData.Transmission?
    @Option(
        help: ArgumentHelp("Version of CMCD (1; 2 with --cmcd-events).", valueName: "1|2"),
        transform: ClientDataArgument.version)
    var cmcdVersion: ClientData.Version?
    @Option(
        help: ArgumentHelp("Name of the content, for CMCD.", valueName: "id"), transform: ClientDataArgument.contentID)
    var contentID: String?
    @Option(
        help: ArgumentHelp(
            "Name of the session, for CMCD, X-Playback-Session-Id and logs (a new UUID).", valueName: "id"),
        transform: ClientDataArgument.sessionID)
    var sessionID: String?

    func apply(to options: inout PlayOptions) {
        options.clientData.transmission = cmcd
        options.clientData.version = cmcdVersion
        options.clientData.contentID = contentID
        options.clientData.sessionID = sessionID
    }
}

/// Values of these options.
enum ClientDataArgument {
    static func version(_ text: String) throws(ArgumentValueError) -> ClientData.Version {
        guard let version = Int(text).flatMap(ClientData.Version.init(rawValue:)) else {
            throw ArgumentValueError("expected one of: 1, 2")
        }
        return version
    }

    static func contentID(_ text: String) throws(ArgumentValueError) -> String { try name(text, limit: 128) }

    static func sessionID(_ text: String) throws(ArgumentValueError) -> String { try name(text, limit: 64) }

    /// Where events go.
    static func target(_ text: String) throws(ArgumentValueError) -> String {
        let start = text.lowercased()
        guard start.hasPrefix("http://") || start.hasPrefix("https://"), Origin(of: text) != nil else {
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

/// What was asked for of client data.
struct ClientDataWish: Sendable, Equatable {
    var transmission: ClientData.Transmission?
    /// nil is the least that does what was asked for.
    var version: ClientData.Version?
    var contentID: String?
    var sessionID: String?
    /// URLs that events go to.
    var events: [String] = []

    /// nil where nothing is told.
    var clientData: ClientData? {
        guard transmission != nil || !events.isEmpty else { return nil }
        var data = ClientData()
        data.transmission = transmission
        data.version = version ?? (events.isEmpty ? .one : .two)
        data.contentID = contentID
        data.sessionID = sessionID
        data.eventTargets = events.map { ClientData.EventTarget(urlString: $0) }
        return data
    }

    func check() throws(ArgumentValueError) {
        if version == .one, !events.isEmpty { throw ArgumentValueError("--cmcd-events needs --cmcd-version 2") }
        guard clientData == nil else { return }
        if version != nil { throw ArgumentValueError("--cmcd-version has no effect without --cmcd; add it") }
        if contentID != nil { throw ArgumentValueError("--content-id has no effect without --cmcd; add it") }
    }
}
