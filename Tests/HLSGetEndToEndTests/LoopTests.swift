import Foundation
import TestSupport
import Testing

@Suite("hlsget --loop", .ownThread, .timeLimit(.minutes(10)))
struct LoopTests {
    private static let master = SampleMedia.folder + "/master.m3u8"

    private func frames(_ arguments: String..., in folder: ScratchFolder) async throws -> [(time: Int, hash: String)] {
        let result = try await hlsget(
            ["--fast", "--quality", "180p", "-f", "framemd5", "--no-audio"] + arguments + [Self.master], in: folder)
        #expect(result.status == 0, "\(result.errors)")
        return String(decoding: result.output, as: UTF8.self).split(separator: "\n").filter { !$0.hasPrefix("#") }.map {
            let fields = $0.split(separator: ",").map { $0.trimmingCharacters(in: .whitespaces) }
            return (fields.count > 2 ? Int(fields[2]) ?? -1 : -1, fields.last ?? "")
        }
    }

    @Test("H06: the passes follow each other in one output, and their times continue")
    func passes() async throws {
        let folder = try ScratchFolder()
        let once = try await frames("--from", "6", "--to", "8", in: folder)
        let thrice = try await frames("--from", "6", "--to", "8", "--loop", "3", in: folder)
        #expect(once.count == 50)
        #expect(thrice.map(\.hash) == once.map(\.hash) + once.map(\.hash) + once.map(\.hash))
        let steps = Set(zip(thrice, thrice.dropFirst()).map { $1.time - $0.time })
        #expect(steps.count == 1, "\(steps)")
    }

    @Test("a pass count is a whole number from 1", arguments: ["0", "-1", "x", ""])
    func refusal(_ count: String) async throws {
        let result = try await hlsget("--loop=\(count)", Self.master)
        #expect(result.status == 64)
    }
}
