import ArgumentParser
import Foundation
import TestSupport
import Testing

@testable import hlsget

/// SDL runs without a display and loudspeakers. Everything else works as on a screen.
@Suite("Watching", .ownThread, .timeLimit(.minutes(10)))
struct WatchTests {
    private static let master = SampleMedia.folder + "/master.m3u8"
    private static let hasSDL = dlopen("libSDL2-2.0.so.0", RTLD_LAZY) != nil

    private func watch(_ arguments: [String], drivers: String, in folder: ScratchFolder) async throws -> Command.Result
    {
        let program = Command.productFolder + "/hlsget"
        let environment = ["/usr/bin/env", "-u", "DISPLAY", "-u", "WAYLAND_DISPLAY"]
        let variables = drivers.split(separator: " ").map(String.init)
        return try await Command(environment + variables + [program] + arguments, in: folder.path).result()
    }

    private struct Line: Decodable {
        var type: String
        var time: Double?
        var item_time: Double?
        var lateness: Double?
        var frame: Int?
        var due: Double?
        var peak: Double?
    }

    @Test("W01: a window shows the frames and plays the audio, each at its time", .enabled(if: hasSDL))
    func presentation() async throws {
        let folder = try ScratchFolder()
        let result = try await watch(
            [
                "watch", "--from", "8", "--duration", "3", "--quality", "180p", "--presentation-log", "a.ndjson",
                Self.master,
            ], drivers: "SDL_VIDEODRIVER=dummy SDL_AUDIODRIVER=dummy", in: folder)
        #expect(result.status == 0, "\(result.errors)")
        #expect(result.errorLines.isEmpty, "\(result.errors)")
        let text = try String(contentsOfFile: folder.path + "/a.ndjson", encoding: .utf8)
        let lines = try text.split(separator: "\n").map {
            try JSONDecoder().decode(Line.self, from: Data($0.utf8))
        }
        let frames = lines.filter { $0.type == "video" }
        // There are 75 frames. A busy machine shows fewer.
        #expect((20...76).contains(frames.count), "\(frames.count)")
        let times = frames.compactMap(\.item_time)
        #expect(times == times.sorted() && (times.first ?? 0) >= 8 && (times.last ?? 99) < 11)
        #expect(lines.contains { $0.type == "audio" })
        let buffers = lines.filter { $0.type == "buffer" }
        #expect((buffers.first?.item_time ?? 0) >= 7.9 && (buffers.last?.item_time ?? 99) < 11)
        // Frames and audio that are due at the same time have the same item time, within a device period.
        let offsets = (frames.filter { ($0.due ?? 0) > 0 } + buffers).map { ($0.due ?? 0) - ($0.item_time ?? 0) }
        let (low, high) = (offsets.min() ?? 0, offsets.max() ?? 1)
        #expect(high - low < 0.02, "\(low) \(high)")
    }

    @Test(
        "W01: --volume and --mute apply from the first sample", .enabled(if: hasSDL),
        arguments: [([], 0.25...0.5), (["--volume", "25"], 0.05...0.12), (["--mute"], 0...0)]
            as [([String], ClosedRange<Double>)])
    func volume(_ options: [String], peak: ClosedRange<Double>) async throws {
        let folder = try ScratchFolder()
        let result = try await watch(
            ["watch", "--no-video", "--duration", "2", "--presentation-log", "a.ndjson"] + options + [Self.master],
            drivers: "SDL_VIDEODRIVER=dummy SDL_AUDIODRIVER=dummy", in: folder)
        #expect(result.status == 0, "\(result.errors)")
        let text = try String(contentsOfFile: folder.path + "/a.ndjson", encoding: .utf8)
        let peaks = try text.split(separator: "\n").compactMap {
            try JSONDecoder().decode(Line.self, from: Data($0.utf8)).peak
        }
        #expect(try peak.contains(#require(peaks.max())))
    }

    @Test("W01: without a display one line is printed, and nothing is loaded", .enabled(if: hasSDL))
    func noDisplay() async throws {
        let folder = try ScratchFolder()
        let result = try await watch(
            ["watch", Self.master], drivers: "SDL_VIDEODRIVER=x11 SDL_AUDIODRIVER=dummy", in: folder)
        #expect(result.status == 9)
        #expect(result.lines.count == 1 && result.errorLines.first?.contains("no display") == true, "\(result.errors)")
    }

    @Test("W01: without an audio device video is shown all the same", .enabled(if: hasSDL))
    func noAudio() async throws {
        let folder = try ScratchFolder()
        let result = try await watch(
            ["play", "--window", "--duration", "1", "--quality", "180p", Self.master],
            drivers: "SDL_VIDEODRIVER=dummy SDL_AUDIODRIVER=none-such", in: folder)
        #expect(result.status == 0, "\(result.errors)")
        #expect(result.errors.contains("hlsget: warning: no sound"), "\(result.errors)")
    }

    @Test("W01: SIGTERM closes the window, and the summary is printed", .enabled(if: hasSDL))
    func signal() async throws {
        let folder = try ScratchFolder()
        let command = try Command(
            [
                "/usr/bin/env", "SDL_VIDEODRIVER=dummy", "SDL_AUDIODRIVER=dummy", Command.productFolder + "/hlsget",
                "watch", "--progress", "json", "--quality", "180p", Self.master,
            ], in: folder.path)
        #expect(command.waitForErrors(containing: "\"playing\""))
        command.send(signal: SIGTERM)
        let result = try await command.result()
        #expect(result.status == 143, "\(result.errors)")
        #expect(result.errors.contains("\"summary\""))
    }

    @Test("W01: several streams follow each other in one window, and a missing one is skipped", .enabled(if: hasSDL))
    func several() async throws {
        let folder = try ScratchFolder()
        let result = try await watch(
            [
                "watch", "--duration", "1", "--quality", "180p", "--presentation-log", "a.ndjson", Self.master,
                "none.m3u8",
                Self.master,
            ], drivers: "SDL_VIDEODRIVER=dummy SDL_AUDIODRIVER=dummy", in: folder)
        #expect(result.status == 10, "\(result.errors)")
        #expect(result.errors.contains("hlsget: warning: no such file"), "\(result.errors)")
        #expect(result.errors.contains("played 0:02 of 3 streams"), "\(result.errors)")
        let text = try String(contentsOfFile: folder.path + "/a.ndjson", encoding: .utf8)
        let frames = try text.split(separator: "\n").map { try JSONDecoder().decode(Line.self, from: Data($0.utf8)) }
            .filter { $0.type == "video" }.compactMap(\.item_time)
        #expect(zip(frames, frames.dropFirst()).count { $1 < $0 } == 1, "\(frames)")
    }

    @Test("W01: --keep-open waits at the end until a signal", .enabled(if: hasSDL))
    func keepOpen() async throws {
        let folder = try ScratchFolder()
        let command = try Command(
            [
                "/usr/bin/env", "SDL_VIDEODRIVER=dummy", "SDL_AUDIODRIVER=dummy", Command.productFolder + "/hlsget",
                "watch", "--keep-open", "--progress", "json", "--from", "38", "--quality", "180p", Self.master,
            ], in: folder.path)
        #expect(command.waitForErrors(containing: "did_play_to_end"))
        command.send(signal: SIGTERM)
        let result = try await command.result()
        #expect(result.status == 143, "\(result.errors)")
    }

    @Test("W02: --preview needs a terminal")
    func noTerminal() async throws {
        let folder = try ScratchFolder()
        let result = try await watch(["play", "--preview", Self.master], drivers: "TERM=xterm", in: folder)
        #expect(result.status == 64 && result.errors.contains("--preview needs a terminal"), "\(result.errors)")
    }

    @Test(
        "W01: contradicting options are refused",
        arguments: [
            ["--window", "--fast"], ["--window", "--no-decode"], ["--window", "--preview"], ["--fullscreen"],
            ["--volume", "50"], ["--mute"], ["--preview", "--mute"], ["--window", "--volume", "101"],
            ["--listen", "--volume", "-1"], ["--keep-open"], ["--listen", "--keep-open"],
            ["--screenshot-dir", "x"],
            ["--preview", "--screenshot-dir", "x"],
            ["--presentation-log", "x"], ["--preview-format", "sixel"], ["--preview", "--progress", "json"],
            ["--preview", "--no-video"],
        ])
    func contradictions(_ options: [String]) throws {
        #expect(throws: (any Error).self) { try HLSGet.parseAsRoot(["play", "x"] + options) }
    }

    @Test(
        "W01: options for one stream are refused with several",
        arguments: [
            ["-o", "a.ts"], ["--player", "cat"], ["--channel", "2"], ["--wait", "5"], ["--record-trace", "x"],
            ["--subs-file", Self.master], ["-"], ["http://a/c|User-Agent=x"],
        ])
    func oneStream(_ options: [String]) throws {
        #expect(throws: (any Error).self) { try HLSGet.parseAsRoot(["watch", "http://a/b", "http://a/c"] + options) }
    }
}
