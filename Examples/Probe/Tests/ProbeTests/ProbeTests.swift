import Foundation
import Testing

@testable import Probe

@Suite("A stream as lines of JSON", .timeLimit(.minutes(10)))
struct ProbeTests {
    @Test("there is a line for each variant, request, other measurement and access log entry")
    func sample() async throws {
        let sample = URL(fileURLWithPath: #filePath + "/../../../../../Tests/Fixtures/sample/master.m3u8").standardized
        var lines: [[String: Any]] = []
        try await Probe.probe(sample.absoluteString) { line in
            let object = try? JSONSerialization.jsonObject(with: Data(line.utf8)) as? [String: Any]
            #expect(object != nil, "\(line)")
            if let object { lines.append(object) }
        }
        let names = lines.compactMap { $0["event"] as? String }
        #expect(names.count == lines.count)
        #expect(names.filter { $0 == "variant" }.count == 3)
        #expect(names.filter { $0 == "media_segment_request" }.count >= 10)
        #expect(names.last == "access_log")
    }
}
