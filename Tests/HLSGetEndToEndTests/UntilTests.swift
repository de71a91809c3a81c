import Foundation
import TestSupport
import Testing

@Suite("An end by the clock", .ownThread, .timeLimit(.minutes(10)))
struct UntilTests {
    @Test("Q05: if nothing was played until then, the command fails without a file", arguments: [[], ["-o", "a.ts"]])
    func past(options: [String]) async throws {
        let folder = try ScratchFolder()
        let origin = FaultyOrigin([:], ["master.m3u8": (.silence, .max)])
        try await withServer(answering: origin.answer) { server in
            let result = try await hlsget(
                ["--until", "2020-01-01T00:00:00Z"] + options + ["\(server.url)/master.m3u8"], in: folder)
            #expect(result.status == 10, "\(result.errors)")
            #expect(result.errorLines.last?.contains("--until came before there was anything to play") == true)
        }
        #expect(try FileManager.default.contentsOfDirectory(atPath: folder.path).isEmpty)
    }

    @Test(
        "Q05: a download without a playlist ends then, however long its retries are",
        arguments: [[], ["--retries", "inf"]])
    func download(options: [String]) async throws {
        let folder = try ScratchFolder()
        let origin = FaultyOrigin([:], ["master.m3u8": (.status("503 Service Unavailable"), .max)])
        try await withServer(answering: origin.answer) { server in
            let result = try await hlsget(
                ["download", "--until", "2020-01-01T00:00:00Z"] + options + ["\(server.url)/master.m3u8"], in: folder)
            #expect(result.status == 10, "\(result.errors)")
            #expect(result.errorLines.last?.contains("--until came before there was anything to download") == true)
        }
        #expect(try FileManager.default.contentsOfDirectory(atPath: folder.path).isEmpty)
    }
}
