import Foundation
import HLSKitCore
import Synchronization
import TestSupport
import Testing

private final class NoteBox: Sendable {
    private let notes = Mutex<[String]>([])
    var texts: [String] { notes.withLock(\.self) }
    func add(_ text: String) { notes.withLock { $0.append(text) } }
}

@Suite(.timeLimit(.minutes(10)))
struct OutputFileTests {
    private static let text = Array("media".utf8)

    @Test("a file gets its name only when committed")
    func commit() throws {
        let folder = try TemporaryFolder()
        let file = try OutputFile(path: folder.path("a.ts"))
        #expect(folder.names == ["a.ts.part"])
        try file.write(Self.text)
        try file.commit()
        #expect(folder.names == ["a.ts"])
        #expect(try folder.bytes("a.ts") == Self.text)
        #expect(file.byteCount == 5)
    }

    @Test("a discarded file leaves nothing behind, a forgotten one its part file")
    func endings() throws {
        let folder = try TemporaryFolder()
        let discarded = try OutputFile(path: folder.path("a"))
        try discarded.write(Self.text)
        discarded.discard()
        #expect(folder.names == [])
        do {
            let forgotten = try OutputFile(path: folder.path("b"))
            try forgotten.write(Self.text)
        }
        #expect(folder.names == ["b.part"])
        #expect(try folder.bytes("b.part") == Self.text)
    }

    @Test("an existing file is refused, or with overwrite kept until the commit")
    func existing() throws {
        let folder = try TemporaryFolder()
        try Data("old".utf8).write(to: folder.url.appending(path: "a"))
        let error = #expect(throws: HLSError.self) { _ = try OutputFile(path: folder.path("a")) }
        #expect(error?.code == .fileExists)
        #expect(folder.names == ["a"])
        let file = try OutputFile(path: folder.path("a"), overwrite: true)
        try file.write(Self.text)
        #expect(try folder.text("a") == "old")
        try file.commit()
        #expect(folder.names == ["a"])
        #expect(try folder.bytes("a") == Self.text)
    }

    @Test("a part file in use is not touched, and an abandoned one is moved away")
    func twoWriters() throws {
        let folder = try TemporaryFolder()
        let first = try OutputFile(path: folder.path("a"))
        try first.write(Self.text)
        let error = #expect(throws: HLSError.self) { _ = try OutputFile(path: folder.path("a"), overwrite: true) }
        #expect(error?.code == .notWritable)
        #expect(error?.text.contains("a.part") == true)
        try first.commit()
        #expect(try folder.bytes("a") == Self.text)
        try Data("left".utf8).write(to: folder.url.appending(path: "b.part"))
        let second = try OutputFile(path: folder.path("b"))
        try second.write(Self.text)
        try second.commit()
        #expect(try folder.bytes("b") == Self.text)
    }

    @Test(
        "a part file is no longer in use after the writer, even if a process that is being started has the descriptor")
    func inheritedLock() throws {
        let folder = try TemporaryFolder()
        var first: OutputFile? = try OutputFile(path: folder.path("a"))
        try first?.write(Self.text)
        let inherited = try #require(InheritedDescriptor(of: folder.path("a.part")))
        first = nil
        let second = try OutputFile(path: folder.path("a"))
        try second.write(Self.text)
        try second.commit()
        #expect(folder.names == ["a", "a.1.part"])
        withExtendedLifetime(inherited) {}
    }

    @Test("a file that appears during writing is not replaced, and the error names the part file")
    func lateExisting() throws {
        let folder = try TemporaryFolder()
        let file = try OutputFile(path: folder.path("a"))
        try file.write(Self.text)
        try Data("other".utf8).write(to: folder.url.appending(path: "a"))
        let error = #expect(throws: HLSError.self) { try file.commit() }
        #expect(error?.code == .fileExists)
        #expect(error?.text.contains(folder.path("a.part")) == true)
        #expect(try folder.text("a") == "other")
        #expect(try folder.bytes("a.part") == Self.text)
    }

    @Test("R65: an old part file is kept under another name, and a link in its position is refused")
    func oldPart() throws {
        let folder = try TemporaryFolder()
        try Data("an older and longer text".utf8).write(to: folder.url.appending(path: "a.part"))
        try Data("keep".utf8).write(to: folder.url.appending(path: "victim"))
        try FileManager.default.createSymbolicLink(
            atPath: folder.path("b.part"), withDestinationPath: folder.path("victim"))
        let file = try OutputFile(path: folder.path("a"))
        try file.write(Self.text)
        try file.commit()
        #expect(try folder.bytes("a") == Self.text)
        #expect(throws: HLSError.self) { try OutputFile(path: folder.path("b"), overwrite: true) }
        #expect(folder.names == ["a", "a.1.part", "b.part", "victim"])
        #expect(file.keptPath == folder.path("a.1.part"))
        #expect(try folder.text("a.1.part") == "an older and longer text")
        #expect(try folder.text("victim") == "keep")
    }

    @Test("R65: part files of several runs are kept, except empty and reproducible ones")
    func leftovers() throws {
        let folder = try TemporaryFolder()
        for run in 1...3 {
            let file = try OutputFile(path: folder.path("a"), overwrite: true)
            #expect(file.keptPath == (run == 1 ? nil : folder.path("a.\(run - 1).part")))
            try file.write(Array("run \(run)".utf8))
        }
        #expect(folder.names == ["a.1.part", "a.2.part", "a.part"])
        #expect(try folder.text("a.1.part") == "run 1")
        #expect(try folder.text("a.2.part") == "run 2")
        try Data().write(to: folder.url.appending(path: "b.part"))
        #expect(try OutputFile(path: folder.path("b")).keptPath == nil)
        #expect(try OutputFile(path: folder.path("a"), keepsLeftover: false).keptPath == nil)
        #expect(
            folder.names == ["a.1.part", "a.2.part"], "a file to which nothing was written is gone with its object")
    }

    @Test("a writer released before its first sample leaves no file, also in a split recording")
    func unwritten() throws {
        let folder = try TemporaryFolder()
        do {
            let path = folder.path("split-1.ts")
            let split = try OutputFormat.ts.makeSplitWriter(every: .seconds(60)) { _ throws(HLSError) in path }
            let writers = [try OutputFormat.mp4.makeWriter(path: folder.path("one.mp4")), split]
            let areEmpty = writers.map { $0.isEmpty }
            #expect(areEmpty == [true, true])
            #expect(folder.names == ["one.mp4.part", "split-1.ts.part"])
        }
        #expect(folder.names == [])
    }

    @Test("a writer reports the path where it keeps an earlier run's part file")
    func leftoverNote() throws {
        let folder = try TemporaryFolder()
        try Data("old".utf8).write(to: folder.url.appending(path: "a.mp4.part"))
        let notes = NoteBox()
        _ = try OutputFormat.mp4.makeWriter(path: folder.path("a.mp4")) { notes.add($0) }
        #expect(notes.texts == ["the unfinished file of an earlier run is kept: \(folder.path("a.mp4.1.part"))"])
    }

    @Test("an unwritable path fails at once with the system's message")
    func notWritable() throws {
        let folder = try TemporaryFolder()
        try FileManager.default.createDirectory(
            at: folder.url.appending(path: "d/e.part"), withIntermediateDirectories: true)
        let cases = [
            (folder.path("none/a"), "No such file or directory"), (folder.path("d"), "Is a directory"),
            (folder.path("d/e"), "File exists"), (folder.path("") + "/a\u{0}b", "not a file name"),
            ("", "not a file name"),
            (folder.path(String(repeating: "x", count: 300)), "File name too long"),
        ]
        for (path, words) in cases {
            let error = #expect(throws: HLSError.self) { _ = try OutputFile(path: path) }
            #expect(error?.code == .notWritable)
            #expect(error?.description == "\(path): \(words)")
        }
    }

    @Test("R72: a full device is a lasting error with the path and the system's message")
    func fullDevice() throws {
        let file = try OutputFile(path: "/dev/full")
        #expect(!file.isSeekable)
        try file.write(Self.text)
        for _ in 0..<2 {
            try? file.write(Self.text)
            let error = #expect(throws: HLSError.self) {
                try file.flush()
                try file.write(Self.text)
            }
            #expect(error?.code == .diskFull)
            #expect(error?.description == "/dev/full: No space left on device")
        }
    }

    @Test("a pipe without a reader is an error, not a signal")
    func brokenPipe() throws {
        let folder = try TemporaryFolder()
        #expect(mkfifo(folder.path("pipe"), 0o600) == 0)
        let reader = open(folder.path("pipe"), O_RDONLY | O_NONBLOCK)
        let file = try OutputFile(path: folder.path("pipe"))
        #expect(file.partPath == nil)
        try file.write(Self.text)
        try file.flush()
        close(reader)
        try file.write(Self.text)
        let error = #expect(throws: HLSError.self) { try file.flush() }
        #expect(error?.code == .brokenPipe)
        #expect(folder.names == ["pipe"])
    }

    @Test("small and large writes and a seek put bytes at their offsets")
    func seeking() throws {
        let folder = try TemporaryFolder()
        let file = try OutputFile(path: folder.path("a"))
        var expected: [UInt8] = []
        for size in [1, 700_000, 3, 524_288, 100, 0, 524_287, 9] {
            let bytes = (0..<size).map { UInt8(truncatingIfNeeded: $0 &* 31 &+ size) }
            try file.write(bytes)
            expected += bytes
        }
        #expect(file.byteCount == Int64(expected.count))
        try file.seek(to: 2)
        try file.write(Self.text)
        expected.replaceSubrange(2..<7, with: Self.text)
        #expect(file.byteCount == Int64(expected.count))
        #expect(throws: HLSError.self) { try file.seek(to: -1) }
        try file.commit()
        #expect(try folder.bytes("a") == expected)
    }

    @Test(
        "file names determine formats",
        arguments: [
            ("a.ts", OutputFormat.ts), ("a.MP4", .mp4), ("a.m4a", .mp4), ("x/a.mkv", .mkv), ("a.y4m", .y4m),
            ("a.yuv", .rawvideo), ("a.wav", .wav), ("a.framemd5", .framemd5), ("a.md5", .framemd5), ("a", nil),
            ("a.b/c", nil), ("a.txt", nil), ("a.null", nil), (".", nil),
        ])
    func formats(path: String, format: OutputFormat?) {
        #expect(OutputFormat(path: path) == format)
    }
}
