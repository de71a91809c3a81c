/// The response to `X-ASSET-LIST`: the assets of an interstitial, in playback order.
///
/// Any bytes can be parsed. Unusable entries in an otherwise valid list are omitted, and `hlsget lint` reports them.
/// Source: rfc8216bis, appendix D.
public struct InterstitialAssetList: Sendable, Hashable {
    /// The largest accepted text, in bytes. Longer lists are cut.
    package static let maximumByteCount = 1 << 20
    package static let maximumCount = 256

    /// One asset of a list.
    public struct Asset: Sendable, Hashable {
        /// The URI of the asset (`URI`), as written.
        public var uri: String
        /// The duration (`DURATION`), or `nil` if it is missing or not a time.
        public var duration: Duration?
        /// The members whose names start with `X-`.
        public var clientAttributes: [String: JSONDocument] = [:]

        package init(uri: String, duration: Duration?) {
            self.uri = uri
            self.duration = duration
        }
    }

    /// The assets (`ASSETS`), in the order of the list.
    ///
    /// An empty list is valid and plays nothing.
    public var assets: [Asset]
    /// The skip control (`SKIP-CONTROL`), which replaces the date range's own.
    public var skipControl: InterstitialSkipControl?
    /// The members whose names start with `X-`, such as reporting URLs.
    public var clientAttributes: [String: JSONDocument] = [:]
    package var issues: [String] = []

    package struct Invalid: Error, Sendable, Hashable, CustomStringConvertible {
        package var description: String
        package init(description: String) { self.description = description }
    }

    package init(assets: [Asset], skipControl: InterstitialSkipControl? = nil) {
        self.assets = assets
        self.skipControl = skipControl
    }

    /// The sum of all durations, or `nil` if one of them is unknown.
    public var duration: Duration? {
        var sum = Duration.zero
        for asset in assets {
            guard let duration = asset.duration else { return nil }
            sum += duration
        }
        return sum
    }

    package static func read(_ bytes: some Collection<UInt8>) -> Result<InterstitialAssetList, Invalid> {
        do throws(Invalid) { return .success(try InterstitialAssetList(parsing: bytes)) } catch {
            return .failure(error)
        }
    }

    package init(parsing bytes: some Collection<UInt8>) throws(Invalid) {
        guard bytes.count <= Self.maximumByteCount else {
            throw Invalid(description: "larger than \(Self.maximumByteCount) bytes")
        }
        guard let document = JSONDocument(parsing: bytes), case .object = document else {
            throw Invalid(description: "not a JSON object")
        }
        guard let entries = document["ASSETS"]?.array else { throw Invalid(description: "ASSETS is not an array") }
        self.init(assets: [])
        var issues: [String] = []
        for (index, entry) in entries.enumerated() {
            guard assets.count < Self.maximumCount else {
                issues.append("ASSETS has more than \(Self.maximumCount) entries")
                break
            }
            guard let uri = entry["URI"]?.string, !uri.isEmpty else {
                issues.append("the asset \(index + 1) has no URI")
                continue
            }
            var asset = Asset(uri: uri, duration: nil)
            asset.duration = Self.duration(entry["DURATION"])
            if asset.duration == nil { issues.append("the asset \(index + 1) has no DURATION") }
            asset.clientAttributes = Self.clientAttributes(entry)
            assets.append(asset)
        }
        if let control = document["SKIP-CONTROL"] { skipControl = Self.skipControl(control, &issues) }
        clientAttributes = Self.clientAttributes(document)
        self.issues = Array(issues.prefix(8))
    }

    private static func skipControl(_ document: JSONDocument, _ issues: inout [String]) -> InterstitialSkipControl? {
        guard case .object = document else {
            issues.append("SKIP-CONTROL is not an object")
            return nil
        }
        func time(_ name: String) -> Duration? {
            guard let value = document[name] else { return nil }
            let time = duration(value)
            if time == nil { issues.append("\(name) of SKIP-CONTROL is not a time") }
            return time
        }
        return InterstitialSkipControl(
            offset: time("OFFSET"), duration: time("DURATION"), labelID: document["LABEL-ID"]?.string)
    }

    /// Reads seconds from a number of any size, or from text, which some servers send.
    private static func duration(_ document: JSONDocument?) -> Duration? {
        let seconds = document?.number ?? document?.string.flatMap { Double($0) }
        guard let seconds, (0...1_000_000_000).contains(seconds) else { return nil }
        return .nanoseconds(Int64((seconds * 1_000_000_000).rounded()))
    }

    private static func clientAttributes(_ document: JSONDocument) -> [String: JSONDocument] {
        guard case .object(let members) = document else { return [:] }
        return members.filter { $0.key.hasPrefix("X-") }
    }
}

/// The time range in which viewers can skip an interstitial.
public struct InterstitialSkipControl: Sendable, Hashable {
    /// The start of the skip control, from the start of the interstitial.
    ///
    /// `nil` means the start of the interstitial.
    public var offset: Duration?
    /// The duration of the skip control.
    ///
    /// `nil` means until the interstitial ends.
    public var duration: Duration?
    /// The identifier of the skip button's label.
    public var labelID: String?

    /// Creates a skip control.
    public init(offset: Duration? = nil, duration: Duration? = nil, labelID: String? = nil) {
        self.offset = offset
        self.duration = duration
        self.labelID = labelID
    }
}
