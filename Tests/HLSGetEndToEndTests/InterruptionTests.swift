import Foundation
import Synchronization
import TestSupport
import Testing

@Suite("An interrupted run", .ownThread, .timeLimit(.minutes(10)))
struct InterruptionTests {
    /// The segment that never arrives. The output ends before it.
    private static let last = 5

    @Test(
        "S03: however a run ends, its file plays up to there",
        .enabled(if: ProbedFile.isAvailable),
        arguments: ["mp4", "mkv", "ts"], [SIGINT, SIGTERM, SIGKILL])
    func interrupted(format: String, signal: Int32) async throws {
        let folder = try ScratchFolder()
        let files = try CutStream.files()
        let missing = [Self.last, Self.last + 1].flatMap { ["v\($0).m4s", "a\($0).m4s"] }
        try await withServer(answering: { connection, request in
            let path = String(request.first?.split(separator: " ").dropFirst().first?.dropFirst() ?? "")
            guard let bytes = files[path] else { return connection.respond([], status: "404 Not Found") }
            guard !missing.contains(path) else { return connection.waitForClose() }
            connection.respond(bytes)
        }) { server in
            let command = try Command.hlsget(
                ["--fast", "-o", "a.\(format)", "\(server.url)/master.m3u8"], in: folder.path)
            let part = "\(folder.path)/a.\(format).part"
            try #require(await Self.grows(part))
            command.send(signal: signal)
            #expect(try await command.result().status == 128 + signal)
            let isWhole = signal != SIGKILL
            let name = isWhole ? "a.\(format)" : "a.\(format).part"
            #expect(try FileManager.default.contentsOfDirectory(atPath: folder.path) == [name])
            if isWhole {
                let file = try ProbedFile(name, in: folder)
                #expect(file.streams.map(\.type) == ["video", "audio"])
                // Transport streams start 1.4 s later than the other formats.
                #expect(file.streams.allSatisfy { abs($0.start - (format == "ts" ? 1.4 : 0)) < 0.03 })
            }
            let frames = try ProbedFile.frames(name, isWhole: isWhole, in: folder)
            // The file contained nearly half of the received media. An incomplete fragment of MP4 is lost.
            #expect(frames.count >= 25 * (isWhole ? 8 : 4), "\(frames.count)")
            // Some of the last frames are missing, because they are decoded after frames that follow them.
            let whole = frames.dropLast(8)
            #expect(Array(whole) == Array(try SampleMedia.frameHashes(of: "180p").prefix(whole.count)))
        }
    }

    @Test(
        "two signals at almost the same time are one: file finished, summary printed",
        .enabled(if: ProbedFile.isAvailable),
        arguments: [("ts", [SIGTERM, SIGTERM]), ("mp4", [SIGINT, SIGTERM]), ("mkv", [SIGHUP])])
    func twice(format: String, signals: [Int32]) async throws {
        let folder = try ScratchFolder()
        let files = try CutStream.files()
        try await withServer(answering: { connection, request in
            let path = String(request.first?.split(separator: " ").dropFirst().first?.dropFirst() ?? "")
            guard let bytes = files[path] else { return connection.respond([], status: "404 Not Found") }
            guard !path.hasPrefix("v\(Self.last)") else { return connection.waitForClose() }
            connection.respond(bytes)
        }) { server in
            let command = try Command.hlsget(
                ["--fast", "-o", "a.\(format)", "\(server.url)/master.m3u8"], in: folder.path)
            try #require(await Self.grows("\(folder.path)/a.\(format).part"))
            for signal in signals { command.send(signal: signal) }
            let result = try await command.result()
            #expect(signals.map { 128 + $0 }.contains(result.status))
            #expect(try FileManager.default.contentsOfDirectory(atPath: folder.path) == ["a.\(format)"])
            #expect(result.lines.contains { $0.hasPrefix("played 0:") }, "\(result.errors)")
            #expect(result.lines.contains("  wrote     a.\(format)"), "\(result.errors)")
            let frames = try ProbedFile.frames("a.\(format)", in: folder)
            #expect(frames.count >= 25 * 8, "\(frames.count)")
        }
    }

    @Test("stopping before the first frame reports the position, and that nothing was written")
    func early() async throws {
        let folder = try ScratchFolder()
        try folder.write(Array("old".utf8), to: "a.ts")
        let files = try CutStream.files()
        let hasAsked = Mutex(false)
        try await withServer(answering: { connection, request in
            let path = String(request.first?.split(separator: " ").dropFirst().first?.dropFirst() ?? "")
            guard let bytes = files[path] else { return connection.respond([], status: "404 Not Found") }
            guard !path.hasSuffix("m4s") else {
                hasAsked.withLock { $0 = true }
                return connection.waitForClose()
            }
            connection.respond(bytes)
        }) { server in
            let command = try Command.hlsget(
                ["--fast", "--overwrite", "-o", "a.ts", "\(server.url)/master.m3u8"], in: folder.path)
            for _ in 0..<4000 where !hasAsked.withLock(\.self) { usleep(5000) }
            command.send(signal: SIGTERM)
            let result = try await command.result()
            #expect(result.status == 128 + SIGTERM)
            #expect(result.lines.contains { $0.hasPrefix("played 0:00") }, "\(result.errors)")
            #expect(!result.errors.contains("wrote"))
            #expect(result.errors.contains("nothing was written to a.ts, the existing file is unchanged"))
            #expect(FileManager.default.contents(atPath: folder.path + "/a.ts") == Data("old".utf8))
        }
    }

    /// Waits until the file has nearly half of its final size: five segments of 36 kB and their audio.
    private static func grows(_ path: String) async -> Bool {
        for _ in 0..<4000 {
            let size = try? FileManager.default.attributesOfItem(atPath: path)[.size] as? Int
            if size ?? 0 > 180_000 { return true }
            usleep(5000)
        }
        return false
    }
}
