import HLSKitPlaylist
import Testing

@Suite("Steering manifests compared with their playlist")
struct SteeringLintTests {
    struct Row: CustomTestStringConvertible {
        var testDescription: String
        var priority: [String]
        var clones: [(id: String, base: String)] = []
        var issues: [String] = []
        var errors = 0
        var warnings = 0
    }

    static let rows: [Row] = [
        Row(testDescription: "as it should be", priority: ["B", "A"]),
        Row(testDescription: "with a clone", priority: ["C", "A"], clones: [("C", "A")]),
        Row(testDescription: "with a clone of a clone", priority: ["D", "A"], clones: [("C", "A"), ("D", "C")]),
        Row(testDescription: "a pathway that is not there", priority: ["A", "X"], warnings: 1),
        Row(testDescription: "none that is there", priority: ["X", "Y"], errors: 1),
        Row(testDescription: "a clone of nothing", priority: ["A"], clones: [("C", "X")], errors: 1),
        Row(
            testDescription: "the clone of a clone that comes later", priority: ["A"],
            clones: [("D", "C"), ("C", "A")], errors: 1),
        Row(testDescription: "a clone that is there already", priority: ["A"], clones: [("B", "A")], warnings: 1),
        Row(testDescription: "what the parser found", priority: ["A"], issues: ["TTL is not a time"], warnings: 1),
    ]

    @Test("P04: lint finds a manifest's mistakes", arguments: rows)
    func findings(_ row: Row) throws {
        let text = """
            #EXTM3U
            #EXT-X-CONTENT-STEERING:SERVER-URI="/s",PATHWAY-ID="A"
            #EXT-X-STREAM-INF:BANDWIDTH=1,PATHWAY-ID="A"
            a.m3u8
            #EXT-X-STREAM-INF:BANDWIDTH=1,PATHWAY-ID="B"
            b.m3u8

            """
        let playlist = try MultivariantPlaylist(parsing: text, url: "https://host/all.m3u8")
        var manifest = SteeringManifest(priority: row.priority)
        manifest.clones = row.clones.map { PathwayClone(id: $0.id, baseID: $0.base) }
        manifest.issues = row.issues
        let findings = manifest.lint(for: playlist, url: "https://host/s")
        #expect(findings.count { $0.issue.severity == .error } == row.errors)
        #expect(findings.count { $0.issue.severity == .warning } == row.warnings)
        #expect(findings.allSatisfy { $0.issue.rule == .steeringManifest && $0.url == "https://host/s" })
    }
}
