import HLSKitDownload
import HLSKitLoading
import HLSKitSimulation
import TestSupport
import Testing

@Suite("Pathways of downloads", .timeLimit(.minutes(10)))
struct DownloadPathwayTests {
    private typealias Answer = ScriptedTransport.Answer

    private static let count = 40

    /// Returns a playlist whose pathways, each on its own host, have two variants and optional separate audio.
    private static func master(first: String?, hasAudio: Bool, names: [String]) -> Answer {
        var lines = ["#EXTM3U"]
        if let first { lines.append("#EXT-X-CONTENT-STEERING:SERVER-URI=\"http://s/\",PATHWAY-ID=\"\(first)\"") }
        for name in names {
            if hasAudio {
                lines.append(
                    "#EXT-X-MEDIA:TYPE=AUDIO,GROUP-ID=\"\(name)\",NAME=\"English\",DEFAULT=YES,LANGUAGE=\"en\","
                        + "URI=\"http://\(name)/audio.m3u8\"")
            }
            lines.append(
                "#EXT-X-STREAM-INF:BANDWIDTH=900000" + (first == nil ? "" : ",PATHWAY-ID=\"\(name)\"")
                    + (hasAudio ? ",AUDIO=\"\(name)\"" : ""))
            lines.append("http://\(name)/video.m3u8")
            lines.append("#EXT-X-STREAM-INF:BANDWIDTH=300000" + (first == nil ? "" : ",PATHWAY-ID=\"\(name)\""))
            lines.append("http://\(name)/low.m3u8")
        }
        return .bytes(Array((lines.joined(separator: "\n") + "\n").utf8))
    }

    /// - Parameter fault: Returns the answer for a file of a host, or `nil` for the normal answer.
    private static func run(
        first: String? = "a", hasAudio: Bool = false, names: [String] = ["a", "b"],
        fault: @escaping @Sendable (_ host: String, _ file: String) -> Answer?
    ) throws -> ScriptedDownload {
        let clock = VirtualClock()
        let transport = ScriptedTransport(clock) { url in
            let parts = url.dropFirst("http://".count).split(separator: "/", maxSplits: 1).map(String.init)
            let (host, file) = (parts[0], parts.count > 1 ? parts[1] : "")
            if host == "main" { return master(first: first, hasAudio: hasAudio, names: names) }
            try await clock.sleep(for: .milliseconds(20))
            if let answer = fault(host, file) { return answer }
            guard file.hasSuffix(".m3u8") else { return ScriptedDownload.media }
            let name = file.dropLast(".m3u8".count)
            let segments = (0..<count).map { "#EXTINF:4,\n\(name)\($0).ts\n" }.joined()
            return .bytes(Array("#EXTM3U\n#EXT-X-TARGETDURATION:4\n\(segments)#EXT-X-ENDLIST\n".utf8))
        }
        return try ScriptedDownload.run("http://main/index.m3u8", over: transport, clock) { $0.connectionCount = 4 }
    }

    private static func expectWhole(_ outcome: ScriptedDownload, segmentCount: Int = count) {
        #expect(outcome.error == nil)
        #expect(outcome.result?.gaps.isEmpty == true)
        #expect(outcome.result?.segmentCount == segmentCount)
    }

    @Test("P06: the tag's pathway is downloaded, or the first without a tag", arguments: [nil, "a", "b"] as [String?])
    func first(_ first: String?) throws {
        let outcome = try Self.run(first: first) { _, _ in nil }
        Self.expectWhole(outcome)
        #expect(outcome.files(of: first ?? "a", endingIn: ".ts").count == Self.count)
        #expect(outcome.files(of: first == "b" ? "a" : "b", endingIn: ".ts").isEmpty)
    }

    @Test(
        "P06: a failing pathway is replaced by another one with the same variant, once for all segments",
        arguments: [Answer.failure(.cannotConnect), .failure(.timedOut), .status(503)], [nil, "a"] as [String?])
    func left(_ answer: ScriptedTransport.Answer, _ first: String?) throws {
        let outcome = try Self.run(first: first) { host, file in
            guard host == "a", file.hasPrefix("video"), file.hasSuffix(".ts") else { return nil }
            return (Int(file.dropFirst("video".count).dropLast(".ts".count)) ?? 0) >= 10 ? answer : nil
        }
        Self.expectWhole(outcome)
        // The requests in flight when the first one failed, each with at most one retry.
        let late = outcome.files(of: "a", endingIn: ".ts").filter { $0.count == "video10.ts".count }
        #expect(!late.isEmpty && late.count <= 8, "\(late)")
        #expect(Set(outcome.files(of: "b", endingIn: ".ts")) == Set((10..<Self.count).map { "video\($0).ts" }))
        #expect(!outcome.requests.contains { $0.url.contains("low") })
        #expect((outcome.requests.last?.time ?? .zero) < .seconds(60))
    }

    @Test("P06: a pathway dead from the start is left with its audio, even if group names differ")
    func dead() throws {
        let outcome = try Self.run(hasAudio: true) { host, _ in host == "a" ? .failure(.cannotConnect) : nil }
        Self.expectWhole(outcome, segmentCount: 2 * Self.count)
        #expect(outcome.files(of: "a", endingIn: ".ts").isEmpty)
        #expect(outcome.files(of: "b", endingIn: ".ts").count == 2 * Self.count)
    }

    @Test("P06: a segment missing on one pathway comes from another; the next comes from the first again")
    func missing() throws {
        let outcome = try Self.run { host, file in host == "a" && file == "video7.ts" ? .status(404) : nil }
        Self.expectWhole(outcome)
        #expect(outcome.files(of: "b", endingIn: ".ts") == ["video7.ts"])
    }

    @Test("P06: a segment missing on the other pathway is requested from the abandoned chosen one")
    func chosen() throws {
        let outcome = try Self.run { host, file in
            guard file.hasSuffix(".ts"), let number = Int(file.drop { !$0.isNumber }.prefix { $0.isNumber }) else {
                return nil
            }
            if host == "a" { return number < 3 ? .failure(.cannotConnect) : nil }
            return number >= 20 ? .status(404) : nil
        }
        Self.expectWhole(outcome)
        #expect(outcome.files(of: "a", endingIn: ".ts").contains("video39.ts"))
        #expect(outcome.files(of: "b", endingIn: ".ts").contains("video19.ts"))
    }
}
