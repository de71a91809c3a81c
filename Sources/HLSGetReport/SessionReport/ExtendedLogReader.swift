import HLSKitPlaylist

/// Reads logs in the W3C extended format, as `--access-log` and `--error-log` write them, line by line.
struct ExtendedLogReader: Sendable {
    enum Line: Sendable {
        case header
        case period(PlaylistDate?, SessionRecord.Period)
        case failure(PlaylistDate?, SessionRecord.Failure)
        case damaged
        /// The line does not belong to such a log.
        case notOurs
    }

    private var columns: [String] = []

    init() {}

    mutating func take(_ bytes: [UInt8]) -> Line {
        guard bytes.first != UInt8(ascii: "{") else { return .notOurs }
        let text = String(decoding: bytes, as: UTF8.self)
        if text.hasPrefix("#") {
            if text.hasPrefix("#Fields:") { columns = text.dropFirst(8).split(separator: " ").map(String.init) }
            return .header
        }
        guard !columns.isEmpty else { return .notOurs }
        let values = text.split(separator: " ", omittingEmptySubsequences: false).map(String.init)
        guard values.count == columns.count else { return .damaged }
        var fields: [String: String] = [:]
        for (name, value) in zip(columns, values) where value != "-" { fields[name] = Self.unescaped(value) }
        let date = fields["date"].flatMap { day in fields["time"].flatMap { PlaylistDate("\(day)T\($0)Z") } }
        return columns.contains("comment") ? .failure(date, failure(fields)) : .period(date, period(fields))
    }

    private func period(_ fields: [String: String]) -> SessionRecord.Period {
        func number(_ name: String) -> Double? {
            fields[name].flatMap(Double.init).flatMap { $0 >= 0 && $0 < 1e15 ? $0 : nil }
        }
        var period = SessionRecord.Period()
        period.uri = fields["uri"]
        period.watched = number("c-duration-watched") ?? 0
        period.stalls = Int(number("c-stalls") ?? 0)
        period.byteCount = Int(number("bytes") ?? 0)
        period.requestCount = Int(number("sc-count") ?? 0)
        period.indicatedBitrate = number("sc-indicated-bitrate")
        period.observedBitrate = number("c-observed-bitrate")
        period.startupTime = number("c-startup-time")
        return period
    }

    private func failure(_ fields: [String: String]) -> SessionRecord.Failure {
        let status = fields["status"].map { "HTTP \($0)" }
        return .init(
            isRecoverable: true, code: fields["domain"], cause: fields["comment"] ?? status ?? "unknown",
            url: fields["uri"])
    }

    private static func unescaped(_ value: String) -> String { value.replacing("%20", with: " ") }
}
