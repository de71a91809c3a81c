import HLSKitPlaylist
import HLSKitTime

/// Client data as it is sent: keys in alphabetical order, with values in the form of structured fields.
///
/// Keys with an unknown or invalid value are omitted.
///
/// Sources: CTA-5004 §2–3, CTA-5004-B, RFC 8941 (dictionaries).
package struct ClientDataReport: Sendable, Hashable {
    private struct Member: Sendable, Hashable {
        var name: String
        var header: ClientData.HeaderField
        /// `=value`, or an empty string for a flag.
        var text: String
    }

    private var members: [Member] = []
    private let version: ClientData.Version

    /// Creates the data of a request.
    ///
    /// - Parameter url: The requested URL, relative to which the next object is named.
    init(request url: String, _ facts: ClientDataFacts, _ news: ReportSequence.News, _ settings: ClientData) {
        self.init(facts, news, settings, keys: settings.keys, event: nil, url: url)
    }

    /// Creates one line of an event report, which is always version 2.
    init(
        _ event: ClientDataEvent, _ facts: ClientDataFacts, _ news: ReportSequence.News, _ settings: ClientData,
        keys: Set<String>?
    ) {
        var settings = settings
        settings.version = .two
        self.init(facts, news, settings, keys: keys, event: event, url: nil)
    }

    private init(
        _ facts: ClientDataFacts, _ news: ReportSequence.News, _ settings: ClientData, keys: Set<String>?,
        event: ClientDataEvent?, url: String?
    ) {
        version = settings.version
        let type = facts.objectType?.rawValue
        // The event of a bit-rate change only has `br`, so it replaces the aggregate value.
        let isBitrateChange = event?.kind == .bitrateChange
        for key in ClientDataKey.allCases where Self.mayHave(key, version, event?.kind) {
            let isRequired = key == .v || event.map { [.e, .ts, $0.kind.requiredKey].contains(key) } ?? false
            guard isRequired || keys?.contains(key.rawValue) ?? (key != .tpb) else { continue }
            let value: String? =
                switch key {
                case .ab:
                    facts.bitRates.isAggregate && !isBitrateChange ? kilobits(facts.bitRates.encoded, type) : nil
                case .br:
                    // Version 1 has one key for both.
                    version == .one || !facts.bitRates.isAggregate || isBitrateChange
                        ? kilobits(facts.bitRates.encoded, type) : nil
                case .tab: facts.bitRates.isAggregate ? kilobits(facts.bitRates.top, type) : nil
                case .tb:
                    // In version 1, this is the highest bit rate that may be selected.
                    version == .one
                        ? kilobits(facts.bitRates.topPlayable ?? facts.bitRates.top, nil)
                        : facts.bitRates.isAggregate ? nil : kilobits(facts.bitRates.top, type)
                case .lab: facts.bitRates.isAggregate ? kilobits(facts.bitRates.lowest, type) : nil
                case .lb: facts.bitRates.isAggregate ? nil : kilobits(facts.bitRates.lowest, type)
                case .tpb:
                    facts.objectType?.hasPlayableBitrate == true ? kilobits(facts.bitRates.topPlayable, type) : nil
                case .pb: kilobits(facts.playheadBitRate, nil)
                case .bl:
                    // In version 1, this only applies to media.
                    version == .one && facts.objectType?.isMedia == false
                        ? nil : list(facts.bufferLength.map { Self.milliseconds($0, toNearest: 100) }, type)
                case .tbl: list(facts.targetBufferLength.map { Self.milliseconds($0, toNearest: 100) }, type)
                case .mtp: list(facts.throughput.flatMap { Self.kilobits($0, toNearest: 100) }, nil)
                case .rtp:
                    facts.bitRates.encoded.flatMap {
                        Self.kilobits($0 * settings.requestedThroughputFactor, toNearest: 100)
                    }.map { "=\($0)" }
                case .d:
                    facts.objectType?.hasDuration == true
                        ? facts.duration.map { "=\(Self.milliseconds($0, toNearest: 1))" } : nil
                case .dl: facts.deadline.map { "=\(Self.milliseconds($0, toNearest: 100))" }
                case .ot: type.map { "=\($0)" }
                case .su: facts.isUrgent ? "" : nil
                case .bs: news.isStarved ? "" : nil
                case .bsa: facts.starvationCount > 0 ? "=(\(facts.starvationCount))" : nil
                case .bsd: Self.list(news.starvations.map { Self.milliseconds($0, toNearest: 1) })
                case .bsda:
                    facts.starvations.isEmpty
                        ? nil
                        : "=(\(Self.milliseconds(facts.starvations.reduce(.zero, +), toNearest: 1)))"
                case .nor: facts.next.flatMap { Self.reference(to: $0, from: url ?? "", version) }
                case .nrr: facts.next?.byteRange.map { "=\"\(Self.text(of: $0))\"" }
                case .nr: facts.isNotRendered ? "" : nil
                case .pr:
                    facts.rate.flatMap { $0 == 1 && !isRequired ? nil : StructuredText.decimal($0) }.map { "=\($0)" }
                case .pt: facts.playheadTime.map { "=\(max(0, Self.milliseconds($0, toNearest: 1)))" }
                case .ltc: facts.liveLatency.map { "=\(max(0, Self.milliseconds($0, toNearest: 1)))" }
                case .msd: news.startDelay.map { "=\(Self.milliseconds($0, toNearest: 1))" }
                case .dfa:
                    facts.objectType?.hasFrames == true ? facts.droppedFrameCount.map { "=\($0)" } : nil
                case .sta: facts.state.map { "=\($0.rawValue)" }
                case .sf: "=h"
                case .sid: Self.string(facts.sessionID, limit: 64)
                case .cid: Self.string(settings.contentID, limit: version == .one ? 64 : 128)
                case .cs: Self.string(settings.contentSignature, limit: nil)
                case .cdn: Self.string(facts.network, limit: 128)
                case .st:
                    facts.streamType.map { version == .one && $0 == .lowLatency ? .live : $0 }.map { "=\($0.rawValue)" }
                case .sn: "=\(news.number)"
                // A missing version stands for version 1.
                case .v: version == .one ? nil : "=\(version.rawValue)"
                case .bg: facts.isBackgrounded == true ? "" : nil
                case .ec: Self.list(news.errors.isEmpty ? event?.errorCode.map { [$0] } ?? [] : news.errors)
                case .e: event.map { "=\($0.kind.rawValue)" }
                case .ts: event.map { "=\($0.date)" }
                case .cen: Self.string(event?.name, limit: 64)
                case .h: Self.string(event?.host, limit: 128)
                case .url: Self.string(event?.response?.url, limit: nil)
                case .rc: event?.response.map { "=\($0.status)" }
                case .ttfb: event?.response?.firstByte.map { "=\(Self.milliseconds($0, toNearest: 1))" }
                case .ttfbb: event?.response?.firstBodyByte.map { "=\(Self.milliseconds($0, toNearest: 1))" }
                case .ttlb: event?.response?.lastByte.map { "=\(Self.milliseconds($0, toNearest: 1))" }
                case .cmsdd: Self.encoded(event?.response?.dynamicData)
                case .cmsds: Self.encoded(event?.response?.staticData)
                case .smrt: Self.encoded(event?.response?.tracing)
                }
            if let value { members.append(Member(name: key.rawValue, header: key.header(in: version), text: value)) }
        }
        for (name, value) in settings.customKeys
        where ClientData.isCustomKey(name) && keys?.contains(name) ?? true {
            guard let text = Self.text(of: value, version) else { continue }
            members.append(Member(name: name, header: settings.customKeyFields[name] ?? .request, text: text))
        }
        members.sort { $0.name < $1.name }
    }

    private static func mayHave(_ key: ClientDataKey, _ version: ClientData.Version, _ event: ClientData.Event?) -> Bool
    {
        guard version == .two else { return ClientDataKey.versionOne.contains(key) }
        // In version 2, it is a parameter of the other key.
        if key == .nrr { return false }
        guard let event else { return !ClientDataKey.ofEvents.contains(key) }
        // Only the server of the next object may learn about it.
        if key == .nor { return false }
        if ClientDataKey.ofResponses.contains(key) { return event == .responseReceived }
        if key == .cen { return event == .custom }
        return true
    }

    // MARK: Output

    var fields: [TransportField] {
        ClientData.HeaderField.allCases.compactMap { header in
            let own = members.filter { $0.header == header }
            return own.isEmpty ? nil : TransportField(name: header.rawValue, value: Self.text(own))
        }
    }

    /// All keys, as the parameter value before encoding or as a line of a report.
    var line: String { Self.text(members) }

    private static func text(_ members: [Member]) -> String {
        members.map { "\($0.name)\($0.text)" }.joined(separator: ",")
    }

    // MARK: Values

    /// Version 1 has a number. Version 2 has a list of numbers with an optional type.
    private func list(_ value: Int?, _ type: String?) -> String? {
        guard let value, value >= 0 else { return nil }
        return version == .one ? "=\(value)" : "=(\(value)\(type.map { ";\($0)" } ?? ""))"
    }

    private func kilobits(_ bitRate: Double?, _ type: String?) -> String? {
        list(bitRate.flatMap { Self.kilobits($0, toNearest: 1) }, type)
    }

    private static func list(_ values: [Int]) -> String? {
        values.isEmpty ? nil : "=(\(values.map(String.init).joined(separator: " ")))"
    }

    private static func list(_ texts: [String]) -> String? {
        let strings = texts.compactMap(StructuredText.string)
        return strings.isEmpty ? nil : "=(\(strings.joined(separator: " ")))"
    }

    /// Returns a field value in Base64, because it may contain any characters.
    private static func encoded(_ text: String?) -> String? {
        text.map { "=\"\(Base64.encoded(Array($0.utf8)))\"" }
    }

    private static func string(_ text: String?, limit: Int?) -> String? {
        guard let text, !text.isEmpty else { return nil }
        return StructuredText.string(limit.map { String(text.prefix($0)) } ?? text).map { "=\($0)" }
    }

    private static func kilobits(_ bitRate: Double, toNearest step: Int) -> Int? {
        guard bitRate.isFinite, bitRate >= 0 else { return nil }
        let steps = (bitRate / 1000 / Double(step)).rounded()
        return Int(min(steps, 1e12)) * step
    }

    package static func milliseconds(_ time: Duration, toNearest step: Int64) -> Int {
        let (seconds, rest) = time.components
        // Beyond the range of structured fields, precision does not matter.
        guard seconds.magnitude < 900_000_000_000 else {
            return seconds < 0 ? -900_000_000_000_000 : 900_000_000_000_000
        }
        let microseconds = seconds * 1_000_000 + rest / 1_000_000_000_000
        let unit = step * 1000
        let steps = (abs(microseconds) + unit / 2) / unit
        return Int((microseconds < 0 ? -steps : steps) * step)
    }

    private static func text(of range: Range<UInt64>) -> String {
        range.upperBound == .max ? "\(range.lowerBound)-" : "\(range.lowerBound)-\(range.upperBound &- 1)"
    }

    private static func reference(
        to next: ClientDataFacts.NextObject, from url: String, _ version: ClientData.Version
    ) -> String? {
        guard let path = RelativeReference.path(to: next.url, from: url) else { return nil }
        guard version == .two else { return "=\"\(PercentCoding.encoded(path))\"" }
        guard let text = StructuredText.string(path) else { return nil }
        return "=(\(text)\(next.byteRange.map { ";r=\"\(Self.text(of: $0))\"" } ?? ""))"
    }

    private static func text(of value: ClientData.CustomValue, _ version: ClientData.Version) -> String? {
        func whole(_ text: String) -> String? { version == .two && text.count > 64 ? nil : "=\(text)" }
        func number(_ text: String) -> String { version == .two ? "=\"\(text)\"" : "=\(text)" }
        switch value {
        case .string(let text): return whole(text).flatMap { _ in StructuredText.string(text).map { "=\($0)" } }
        case .token(let text): return StructuredText.isToken(text) ? whole(text) : nil
        case .integer(let value):
            return (-999_999_999_999_999...999_999_999_999_999).contains(value) ? number("\(value)") : nil
        case .decimal(let value): return StructuredText.decimal(value).map(number)
        case .flag: return version == .two ? "=true" : ""
        }
    }
}
