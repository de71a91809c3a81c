import Foundation
import HLSGetKit
import HLSKitCore
import TestSupport
import Testing

@testable import HLSGetMonitor

@Suite("Metrics of a monitor")
struct PrometheusTextTests {
    private struct Sample: Hashable {
        var name: String
        var labels: [String: String]
        var value: Double
    }

    private struct Mistake: Error { var line: String }

    /// Parses the text format (prometheus.io/docs/instrumenting/exposition_formats) strictly.
    private static func parse(_ text: String) throws -> (samples: [Sample], types: [String: String]) {
        var samples: [Sample] = []
        var types: [String: String] = [:]
        var helps: Set<String> = []
        var closed: Set<String> = []
        var current = ""
        guard text.hasSuffix("\n") else { throw Mistake(line: "no line feed at the end") }
        for line in text.split(separator: "\n") {
            if line.hasPrefix("#") {
                let words = line.split(separator: " ", maxSplits: 3)
                guard words.count == 4, words[0] == "#" else { throw Mistake(line: "\(line)") }
                let name = String(words[2])
                if name != current {
                    guard !closed.contains(name) else { throw Mistake(line: "\(line) is there twice") }
                    closed.insert(name)
                    current = name
                }
                if words[1] == "HELP" {
                    guard helps.insert(name).inserted else { throw Mistake(line: "\(line)") }
                } else {
                    guard words[1] == "TYPE", types[name] == nil, ["counter", "gauge"].contains(words[3]) else {
                        throw Mistake(line: "\(line)")
                    }
                    types[name] = String(words[3])
                }
                continue
            }
            let sample = try self.sample(String(line))
            guard sample.name == current, types[current] != nil, helps.contains(current) else {
                throw Mistake(line: "\(line)")
            }
            samples.append(sample)
        }
        return (samples, types)
    }

    private static func sample(_ line: String) throws -> Sample {
        var rest = line[...]
        func isName(_ character: Character) -> Bool {
            character.isASCII && (character.isLetter || character.isNumber || "_:".contains(character))
        }
        let name = String(rest.prefix(while: isName))
        rest = rest.dropFirst(name.count)
        var labels: [String: String] = [:]
        if rest.first == "{" {
            rest = rest.dropFirst()
            while rest.first != "}" {
                let label = String(rest.prefix(while: isName))
                rest = rest.dropFirst(label.count)
                guard !label.isEmpty, rest.hasPrefix("=\"") else { throw Mistake(line: line) }
                rest = rest.dropFirst(2)
                var value = ""
                while let character = rest.popFirst(), character != "\"" {
                    guard character == "\\" else {
                        value.append(character)
                        continue
                    }
                    switch rest.popFirst() {
                    case "n": value.append("\n")
                    case "\\": value.append("\\")
                    case "\"": value.append("\"")
                    default: throw Mistake(line: line)
                    }
                }
                guard labels.updateValue(value, forKey: label) == nil else { throw Mistake(line: line) }
                if rest.first == "," { rest = rest.dropFirst() }
            }
            rest = rest.dropFirst()
        }
        guard !name.isEmpty, rest.first == " ", let value = Double(rest.dropFirst()) else { throw Mistake(line: line) }
        return Sample(name: name, labels: labels, value: value)
    }

    private static func row(_ name: String, _ url: String = "https://a.example/x.m3u8") -> StreamRow {
        var health = StreamHealth()
        _ = health.handle(.began, at: .zero)
        _ = health.handle(.playing, at: .seconds(1))
        var sample = StreamSample()
        sample.latency = .seconds(12.5)
        sample.buffered = .seconds(6)
        sample.bitRate = 8_000_000
        sample.throughput = 24_000_000
        sample.variantIndex = 2
        sample.startupTime = .seconds(0.5)
        sample.statistics.numberOfStalls = 3
        sample.statistics.stallDuration = .seconds(1.5)
        sample.statistics.receivedByteCount = 123_456_789_012
        _ = health.handle(.sample(sample), at: .seconds(2))
        _ = health.handle(.error(FailureName(code: "http_503", text: "x")), at: .seconds(3))
        _ = health.handle(.error(FailureName(code: "a\nb", text: "x")), at: .seconds(3))
        let extent = MediaPlaylistExtent(targetDuration: .seconds(6), firstMediaSequence: 1, segmentCount: 5)
        _ = health.handle(.playlist(extent, url: url), at: .seconds(3))
        _ = health.handle(
            .certificate(host: "a", expires: PlaylistDate(seconds: 1_900_000_000), remaining: .seconds(86_400)),
            at: .seconds(3))
        _ = health.handle(.waiting, at: .seconds(50))
        return StreamRow(name: name, url: url, health: health, at: .seconds(60), decodes: true)
    }

    private static let oddNames = ["a\\b", "say \"cheese\"", "two\nlines", "日本 – ü", "{le=\"1\"}", "\u{7}bell"]

    @Test("every name, whatever its characters, is read back unchanged")
    func labels() throws {
        let rows = Self.oddNames.map { Self.row($0) }
        let text = MonitorMetrics.text(rows, elapsed: .seconds(60), version: "1")
        let (samples, _) = try Self.parse(text)
        let names = samples.filter { $0.name == "hls_stream_info" }.compactMap { $0.labels["stream"] }
        #expect(names == Self.oddNames.map { $0.replacing("\u{7}", with: "?") })
    }

    @Test("names have base units, counters end in _total, and values use those units")
    func conventions() throws {
        let (samples, types) = try Self.parse(
            MonitorMetrics.text([Self.row("a"), Self.row("b")], elapsed: .seconds(60), version: "1"))
        for (name, type) in types {
            #expect(name.hasPrefix("hls_"))
            #expect((type == "counter") == name.hasSuffix("_total"), "\(name)")
            for wrong in ["milli", "_ms", "_bits", "_kb", "percent", "minutes", "days"] {
                #expect(!name.contains(wrong), "\(name)")
            }
        }
        func value(_ name: String, _ labels: [String: String] = [:]) -> Double? {
            let labels = labels.merging(["stream": "a"]) { $1 }
            return samples.first { $0.name == name && $0.labels == labels }?.value
        }
        #expect(value("hls_stream_up") == 1)
        #expect(value("hls_stream_state", ["state": "up"]) == 1)
        #expect(value("hls_stream_state", ["state": "down"]) == 0)
        #expect(value("hls_stream_trouble", ["trouble": "frozen"]) == 0)
        #expect(value("hls_latency_seconds") == 12.5)
        #expect(value("hls_variant_bytes_per_second") == 1_000_000)
        #expect(value("hls_throughput_bytes_per_second") == 3_000_000)
        #expect(value("hls_stalls_total") == 3)
        #expect(value("hls_stall_seconds_total") == 1.5)
        #expect(value("hls_received_bytes_total") == 123_456_789_012)
        #expect(value("hls_errors_total", ["code": "http_5xx"]) == 1)
        #expect(value("hls_errors_total", ["code": "other"]) == 1)
        #expect(value("hls_certificate_expiry_timestamp_seconds") == 1_900_000_000)
        #expect(value("hls_playlist_age_seconds") == 57)
        #expect(Set(samples.map { [$0.name: $0.labels] }).count == samples.count)
    }

    @Test(
        "promtool accepts the metrics", .enabled(if: Tool.exists("/usr/bin/promtool")))
    func promtool() throws {
        let text = MonitorMetrics.text(
            Self.oddNames.map { Self.row($0) }, elapsed: .seconds(60), version: CommandInfo.version)
        // promtool fails on any remark, even on mere advice.
        let said = try Tool.run(
            ["/bin/sh", "-c", "promtool check metrics 2>&1 || true"], input: Array(text.utf8))
        #expect(String(decoding: said, as: UTF8.self) == "")
    }

    private static let examples = SampleMedia.fixtures + "/../../Examples/Monitoring"

    @Test("promtool accepts the alert rules", .enabled(if: Tool.exists("/usr/bin/promtool")))
    func rules() throws {
        let said = try Tool.run(["/bin/sh", "-c", "promtool check rules '\(Self.examples)/alerts.yml' 2>&1 || true"])
        #expect(String(decoding: said, as: UTF8.self).contains("SUCCESS: "))
    }

    @Test("alerts and dashboard use existing metrics only", arguments: ["alerts.yml", "dashboard.json"])
    func names(file: String) throws {
        let text = try String(contentsOfFile: "\(Self.examples)/\(file)", encoding: .utf8)
        let metrics = MonitorMetrics.text([Self.row("a")], elapsed: .seconds(60), version: CommandInfo.version)
        let known = Set(
            metrics.split(separator: "\n").filter { $0.hasPrefix("# TYPE ") }.map {
                String($0.split(separator: " ")[2])
            })
        let asked = Set(text.matches(of: /\bhls_\w+/).map { String($0.0) })
        #expect(!asked.isEmpty && asked.isSubset(of: known), "\(asked.subtracting(known).sorted())")
    }

    @Test("values that are not numbers are omitted")
    func notFinite() {
        var text = PrometheusText()
        text.add("a", .gauge, "x", [], Double.nan)
        text.add("b", .gauge, "x", [], Double.infinity)
        text.add("c", .gauge, "two\nlines \\", [("l", "v")], 0.25)
        #expect(text.text == "# HELP c two\\nlines \\\\\n# TYPE c gauge\nc{l=\"v\"} 0.25\n")
    }
}
