import Foundation

struct ProbedPackets {
    struct Stream {
        var index: Int
        var id: Int
        var codec: String
        /// The length of one timestamp unit, in seconds.
        var timeBase: (numerator: Int, denominator: Int)
        var packets: [PacketFacts] = []
    }

    var streams: [Stream] = []

    init(_ source: SegmentSource) throws {
        let text = try TemporaryFile.with(source.whole) { path in
            try SegmentSource.run(
                "ffprobe",
                [
                    "-v", "quiet", "-of", "compact=nk=0", "-show_entries",
                    "stream=index,id,codec_name,time_base:packet=stream_index,pts,dts,size,flags", path,
                ])
        }
        var packets: [Int: [PacketFacts]] = [:]
        // ffprobe lists the streams of a transport stream a second time, below their program.
        var known: Set<Int> = []
        for line in String(decoding: text, as: UTF8.self).split(separator: "\n") {
            var fields: [Substring: Substring] = [:]
            for field in line.split(separator: "|").dropFirst() {
                guard let sign = field.firstIndex(of: "=") else { continue }
                fields[field[..<sign]] = field[field.index(after: sign)...]
            }
            func number(_ name: Substring) -> Int64? { fields[name].flatMap { Int64($0) } }
            if line.hasPrefix("packet|"), let index = number("stream_index") {
                packets[Int(index), default: []].append(
                    PacketFacts(
                        pts: number("pts"), dts: number("dts"), size: Int(number("size") ?? 0),
                        isKey: fields["flags"]?.hasPrefix("K") ?? false))
            } else if line.hasPrefix("stream|"), let index = number("index"), known.insert(Int(index)).inserted {
                let id = fields["id"].flatMap { Int($0.dropFirst(2), radix: 16) } ?? 0
                let base = (fields["time_base"] ?? "").split(separator: "/").compactMap { Int($0) }
                streams.append(
                    Stream(
                        index: Int(index),
                        id: id, codec: String(fields["codec_name"] ?? ""),
                        timeBase: base.count == 2 ? (base[0], base[1]) : (1, 90_000)))
            }
        }
        for index in streams.indices { streams[index].packets = packets[streams[index].index] ?? [] }
    }
}

struct PacketFacts: Hashable, CustomStringConvertible {
    var pts: Int64?
    var dts: Int64?
    var size: Int
    var isKey: Bool

    var description: String {
        "pts \(pts.map(String.init) ?? "-") dts \(dts.map(String.init) ?? "-") size \(size)\(isKey ? " key" : "")"
    }
}
