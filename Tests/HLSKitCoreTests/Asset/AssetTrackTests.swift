import Foundation
import HLSKitAsset
import HLSKitLoading
import HLSKitMedia
import HLSKitOutput
import HLSKitPlayback
import HLSKitPlaylist
import HLSKitSelection
import HLSKitTime
import TestSupport
import Testing

@testable import HLSKitCodec

@Suite(.timeLimit(.minutes(10))) struct AssetTrackTests {
    private static let media = SampleMedia.fixtures + "/media"

    private static func bytes(_ name: String) throws -> [UInt8] {
        Array(try Data(contentsOf: URL(fileURLWithPath: "\(media)/\(name)")))
    }

    private func seconds(_ value: Double) -> MediaTime { MediaTime(seconds: value, preferredTimescale: 90_000) }

    @Test(
        "A06, A07: a stream's tracks are the variant's tracks, followed by its renditions' tracks",
        .enabled(if: TestOrigin.isInstalled))
    func stream() async throws {
        let options = AssetOptions(transport: PlayerConfiguration.unpaced().transport)
        let asset = Asset(urlString: try SampleOrigin.shared().plain + "/sample/master.m3u8", options: options)
        let (duration, tracks) = try await asset.load(.duration, .tracks)
        #expect(duration == MediaTime(value: 40, timescale: 1))
        #expect(tracks.map(\.trackID) == [1, 2, 3])
        #expect(tracks.map(\.mediaType) == [.video, .audio, .text])
        let video = try #require(try await asset.loadTracks(withMediaCharacteristic: .visual).first)
        let (size, rate, range, formats) = try await video.load(
            .naturalSize, .nominalFrameRate, .timeRange, .formatDescriptions)
        #expect(size == PixelSize(width: 320, height: 180))
        #expect(rate == 25)
        #expect(range.duration == duration)
        #expect(formats.map(\.codec) == [.h264])
        let audio = try #require(try await asset.loadTracks(withMediaType: .audio).first)
        #expect(audio.trackID == 2)
        #expect(try await audio.load(.extendedLanguageTag) == "en")
        #expect(try await audio.load(.naturalTimeScale) == 48_000)
        #expect(try await video.load(.naturalTimeScale) == 12_800)
        #expect(try await asset.loadTrack(withTrackID: 3)?.mediaType == .text)
        #expect(try await asset.loadTrack(withTrackID: 4) == nil)
        #expect(try await asset.loadTracks(withMediaCharacteristic: .legible).map(\.trackID) == [3])
        #expect(try await asset.load(.shortestTrackEnd) == duration)
        await #expect(throws: HLSError.self) { try await video.loadSamplePresentationTime(forTrackTime: .zero) }
    }

    @Test("H07: the shortest track gives the end for a loop, and an item with that end time ends there")
    func shortestTrack() async throws {
        let folder = try ScratchFolder()
        try SampleMedia.copy(to: folder)
        let path = folder.path + "/sample/audio-en.m3u8"
        let lines = try String(contentsOfFile: path, encoding: .utf8).split(
            separator: "\n", omittingEmptySubsequences: false)
        let cut = try #require(lines.indices.filter { lines[$0].hasPrefix("#EXTINF") }.suffix(2).first)
        try (lines[..<cut] + ["#EXT-X-ENDLIST", ""]).joined(separator: "\n").write(
            toFile: path, atomically: true, encoding: .utf8)
        let url = "file://" + folder.path + "/sample/master.m3u8"
        let asset = Asset(urlString: url, options: AssetOptions(transport: PlayerConfiguration.unpaced().transport))
        let (shortest, duration) = try await asset.load(.shortestTrackEnd, .duration)
        let end = try #require(shortest)
        #expect(duration.seconds == 40)
        #expect(abs(end.seconds - 36) < 0.1)
        let writer = CapturingWriter()
        let item = try PlayerItem(url, quality: "180p", to: writer)
        #expect(item.forwardPlaybackEndTime == nil)
        item.forwardPlaybackEndTime = end
        let play = try await Play.toEnd(item, .unpaced())
        #expect(play.didPlayToEnd)
        let last = try #require(writer.frames.last).time.seconds
        #expect(last < end.seconds && last >= end.seconds - 0.04)
    }

    @Test("A15: a playlist in a local folder is loaded")
    func folder() async throws {
        let asset = Asset(
            urlString: "file://" + SampleMedia.folder + "/master.m3u8",
            options: AssetOptions(transport: PlayerConfiguration.unpaced().transport))
        let (duration, tracks) = try await asset.load(.duration, .tracks)
        #expect(duration == MediaTime(value: 40, timescale: 1))
        #expect(tracks.count == 3)
    }

    struct File: Sendable, CustomStringConvertible {
        var name: String
        /// The duration in seconds, as ffprobe reports it.
        var duration: Double
        var types: [MediaKind]
        var codecs: [MediaCodec]
        var size = PixelSize.zero
        var description: String { name }
    }

    @Test(
        "A15: a bare file, remote or local, has its tracks and its duration",
        arguments: [
            File(
                name: "mp4/progressive.mp4", duration: 1, types: [.video, .audio], codecs: [.h264, .aac],
                size: PixelSize(width: 64, height: 48)),
            File(
                name: "mp4/moov-last.mp4", duration: 1, types: [.video, .audio], codecs: [.h264, .aac],
                size: PixelSize(width: 64, height: 48)),
            File(
                name: "mp4/indexed.mp4", duration: 1.08, types: [.video, .audio], codecs: [.h264, .aac],
                size: PixelSize(width: 64, height: 48)),
            File(name: "mp4/tagged.mp4", duration: 0.5, types: [.audio, .text], codecs: [.aac]),
            File(name: "packed.mp3", duration: 0.63, types: [.audio], codecs: [.mp3]),
            File(name: "packed.aac", duration: 0.63, types: [.audio], codecs: [.aac]),
            File(name: "ts-h264-aac.ts", duration: 1.22, types: [.video, .audio], codecs: [.h264, .aac]),
            File(name: "ts-wrap.ts", duration: 0.62, types: [.video, .audio], codecs: [.h264, .aac]),
        ], [false, true])
    func file(_ c: File, isLocal: Bool) async throws {
        let url = isLocal ? "file://\(Self.media)/\(c.name)" : "http://a.example/\(c.name)"
        let transport: any ResourceTransport =
            isLocal ? PlayerConfiguration.unpaced().transport : TableTransport([url: try Self.bytes(c.name)])
        let asset = Asset(urlString: url, options: AssetOptions(transport: transport))
        let (duration, tracks, isPlayable, variants) = try await asset.load(
            .duration, .tracks, .isPlayable, .variants)
        #expect(abs(duration.seconds - c.duration) < 0.15, "\(duration)")
        #expect(tracks.map(\.mediaType) == c.types)
        #expect(tracks.map(\.trackID) == Array(1...c.types.count))
        let codecs = try await tracks.first?.load(.formatDescriptions).map(\.codec)
        #expect(codecs?.first == c.codecs.first)
        #expect(isPlayable)
        #expect(variants.map(\.urlString) == [url])
        #expect(variants.map(\.peakBitRate) == [nil])
        if c.size != .zero { #expect(try await tracks.first?.load(.naturalSize) == c.size) }
    }

    @Test(
        "J10: an item's presentation size is rotated by its track; the track's natural size is not",
        arguments: 0...3)
    func turned(_ quarters: Int) async throws {
        let bytes = try SampleImages.turned(Self.bytes("mp4/progressive.mp4"), byQuarters: quarters)
        let url = "http://a.example/f.mp4"
        let asset = Asset(urlString: url, options: .table(TableTransport([url: bytes])))
        let video = try #require(try await asset.loadTracks(withMediaType: .video).first)
        #expect(try await video.load(.naturalSize) == PixelSize(width: 64, height: 48))
        let sample = try VirtualSample(end: .seconds(1), quality: nil, path: "f.mp4", files: ["f.mp4": bytes])
        let output = VideoOutput()
        try sample.item.add(output)
        let frames = Recorder<VideoFrame>()
        sample.record(output.frames(), in: frames)
        #expect(sample.item.presentationSize == .zero)
        try sample.play()
        let size = PixelSize(width: 64, height: 48).turned(byQuarters: quarters)
        #expect(sample.item.presentationSize == size)
        #expect(frames.elements.count > 10)
        #expect(frames.elements.allSatisfy { $0.presentationSize == size && $0.rotation == quarters * 90 })
        let first = try #require(frames.elements.first)
        #expect(output.videoRect(for: first.presentationSize).width == Double(size.width))
    }

    @Test("A07: every sample of an MP4 file can be looked up by time")
    func lookup() async throws {
        let url = "http://a.example/f.mp4"
        let asset = Asset(
            urlString: url, options: .table(TableTransport([url: try Self.bytes("mp4/progressive.mp4")])))
        let video = try #require(try await asset.loadTracks(withMediaType: .video).first)
        #expect(try await video.load(.nominalFrameRate) == 25)
        #expect(try #require(try await video.load(.totalSampleDataLength)) > 0)
        #expect(try #require(try await video.load(.estimatedDataRate)) > 0)
        #expect(try await video.loadSamplePresentationTime(forTrackTime: seconds(0.5)) == seconds(0.48))
        #expect(try await video.loadSamplePresentationTime(forTrackTime: .zero) == .zero)
        let segment = try await video.loadSegment(forTrackTime: .zero)
        #expect(segment.timeMapping.target == MediaTimeRange(start: .zero, end: seconds(1)))
        for time in [seconds(1), seconds(-1), .indefinite, .positiveInfinity] {
            await #expect(throws: HLSError.self) { try await video.loadSamplePresentationTime(forTrackTime: time) }
        }
    }

    private func video(of name: String, _ change: (inout [UInt8]) -> Void) async throws -> AssetTrack {
        var file = try Self.bytes(name)
        change(&file)
        let url = "http://a.example/f.mp4"
        let asset = Asset(urlString: url, options: .table(TableTransport([url: file])))
        return try #require(try await asset.loadTracks(withMediaType: .video).first)
    }

    @Test("A07: an empty edit before the media is an empty segment without samples")
    func emptyEdit() async throws {
        let video = try await video(of: "mp4/moov-last.mp4") { file in
            // Inserts an empty edit of half a second, in movie units, before the existing one. The header is after the
            // media.
            guard let list = file.firstRange(of: Array("elst".utf8))?.lowerBound else { return }
            let edit = [0, 0, 1, 0xF4, 0xFF, 0xFF, 0xFF, 0xFF, 0, 1, 0, 0] as [UInt8]
            file.insert(contentsOf: edit, at: list + 12)
            file[list + 11] = 2
            for type in ["moov", "trak", "edts", "elst"] {
                guard let place = file.firstRange(of: Array(type.utf8))?.lowerBound else { return }
                let size = file[place - 4..<place].reduce(0) { $0 << 8 | Int($1) } + edit.count
                file[place - 2] = UInt8(size >> 8)
                file[place - 1] = UInt8(size & 0xFF)
            }
        }
        let empty = try await video.loadSegment(forTrackTime: .zero)
        #expect(empty.isEmpty && !empty.timeMapping.source.isValid)
        #expect(empty.timeMapping.target == MediaTimeRange(start: .zero, end: seconds(0.5)))
        #expect(try await video.loadSegment(forTrackTime: seconds(0.49)) == empty)
        let media = try await video.loadSegment(forTrackTime: seconds(0.5))
        #expect(!media.isEmpty)
        #expect(media.timeMapping.target == MediaTimeRange(start: seconds(0.5), end: seconds(1.5)))
        #expect(media.timeMapping.source.start == seconds(0.08), "frames are put in order before they are shown")
        #expect(try await video.load(.timeRange).start == seconds(0.5))
        #expect(try await video.loadSamplePresentationTime(forTrackTime: seconds(0.52)) == seconds(0.5))
        await #expect(throws: HLSError.self) {
            try await video.loadSamplePresentationTime(forTrackTime: seconds(0.25))
        }
    }

    @Test("A07: a track header's matrix is its preferred transform, unless the matrix shows nothing")
    func preferredTransform() async throws {
        func transform(_ values: [Int: Int32]) async throws -> TrackTransform {
            let video = try await video(of: "mp4/progressive.mp4") { file in
                guard let header = file.firstRange(of: Array("tkhd".utf8))?.upperBound else { return }
                for (place, value) in values {
                    for byte in 0..<4 {
                        file[header + 40 + place * 4 + byte] =
                            UInt8(truncatingIfNeeded: (value << 15) >> Int32(24 - byte * 8))
                    }
                }
            }
            return try await video.load(.preferredTransform)
        }
        #expect(try await transform([:]) == .identity)
        let turned = try await transform([0: 0, 1: 2, 3: -2, 4: 0, 6: 95])
        #expect(turned == TrackTransform(a: 0, b: 1, c: -1, d: 0, tx: 47.5, ty: 0))
        #expect(try await transform([0: -2]) == TrackTransform(a: -1))
        #expect(try await transform([0: 0, 4: 0]) == .identity)
    }

    @Test("a header after much media is fetched by range, without the media")
    func headerBehindMedia() async throws {
        let url = "http://a.example/big.mp4"
        let file = try Self.bytes("mp4/moov-last.mp4")
        let size = 20 << 20
        let free = [24, 16, 8, 0].map { UInt8(truncatingIfNeeded: size >> $0) } + Array("free".utf8)
        let padded = file.prefix(32) + free + [UInt8](repeating: 0, count: size - 8) + file.dropFirst(32)
        let transport = TableTransport([url: Array(padded)])
        let asset = Asset(urlString: url, options: .table(transport))
        #expect(try await asset.load(.tracks).count == 2)
        #expect(abs(try await asset.load(.duration).seconds - 1) < 0.1)
        let ranges = transport.requests.compactMap(\.byteRange)
        #expect(!ranges.isEmpty)
        #expect(ranges.reduce(0) { $0 + $1.count } < 1 << 20)
    }

    @Test("a long transport stream is measured at its ends, packed audio by bit rate, or exactly on request")
    func estimates() async throws {
        // Repeats the audio, so that the head of the file does not reach its end.
        let packed = try Self.bytes("packed.mp3")
        let audio = packed + Array(repeatElement(packed.dropFirst(Self.tagByteCount(packed)), count: 600).joined())
        let url = "http://a.example/long.mp3"
        let estimated = try await Asset(urlString: url, options: .table(TableTransport([url: audio]))).load(.duration)
        var options = AssetOptions.table(TableTransport([url: audio]))
        options.prefersPreciseDurationAndTiming = true
        let exact = try await Asset(urlString: url, options: options).load(.duration)
        #expect(estimated.hasBeenRounded && !exact.hasBeenRounded)
        #expect(abs(estimated.seconds / exact.seconds - 1) < 0.05, "\(estimated) \(exact)")
    }

    @Test("a fragmented file without an index is measured by its first fragments")
    func fragmentedEstimate() async throws {
        let file = try Self.bytes("mp4/avc-aac.mp4")
        var scanner = MP4HeaderScanner()
        let movie = try #require(try scanner.append(file[...]))
        // Repeats the fragments. Their times do not continue, but the size and the head are like those of a long file.
        let fragments = file.dropFirst(movie.movieRange.upperBound)
        let long = file + Array(repeatElement(fragments, count: 400).joined())
        let url = "http://a.example/long.mp4"
        let duration = try await Asset(urlString: url, options: .table(TableTransport([url: long]))).load(.duration)
        #expect(duration.hasBeenRounded)
        #expect(duration.isNumeric && duration > MediaTime(value: 1, timescale: 1))
        let unknown = TableTransport([url: long], declaresLength: false)
        #expect(try await Asset(urlString: url, options: .table(unknown)).load(.duration) == .indefinite)
    }

    private static func tagByteCount(_ bytes: [UInt8]) -> Int {
        10 + bytes[6..<10].reduce(0) { $0 << 7 | Int($1) }
    }

    @Test("encrypted segments are read with their key, and a key failure has its own error code")
    func encrypted() async throws {
        let base = "http://a.example/"
        let playlist = """
            #EXTM3U
            #EXT-X-TARGETDURATION:2
            #EXT-X-KEY:METHOD=AES-128,URI="key",IV=0x00000000000000000000000000000001
            #EXTINF:1,
            s.ts
            #EXT-X-ENDLIST
            """
        let folder = try ScratchFolder()
        let clear = try folder.write(try Self.bytes("ts-h264-aac.ts"), to: "clear")
        let cipher = try Tool.run([
            "openssl", "enc", "-aes-128-cbc", "-K", "000102030405060708090a0b0c0d0e0f", "-iv",
            "00000000000000000000000000000001", "-in", clear,
        ])
        let resources = [
            base + "v.m3u8": Array(playlist.utf8), base + "s.ts": cipher, base + "key": (0..<16).map { UInt8($0) },
        ]
        let asset = Asset(urlString: base + "v.m3u8", options: .table(TableTransport(resources)))
        let tracks = try await asset.load(.tracks)
        #expect(tracks.map(\.mediaType) == [.video, .audio])
        #expect(try await asset.load(.hasProtectedContent) == false)
        var without = resources
        without[base + "key"] = nil
        let locked = Asset(urlString: base + "v.m3u8", options: .table(TableTransport(without)))
        let error = await #expect(throws: HLSError.self) { try await locked.load(.tracks) }
        #expect(error?.code == .contentKey)
        #expect(try await locked.load(.duration) == MediaTime(value: 1, timescale: 1))
    }

    @Test("A08: a rendition with fewer channels, same name and language is a fallback")
    func audioFallback() async throws {
        let base = "http://a.example/"
        let rendition = "#EXTM3U\n#EXT-X-TARGETDURATION:2\n#EXTINF:1,\ns.aac\n#EXT-X-ENDLIST\n"
        let master = """
            #EXTM3U
            #EXT-X-MEDIA:TYPE=AUDIO,GROUP-ID="a",NAME="English",LANGUAGE="en",DEFAULT=YES,CHANNELS="6",URI="six.m3u8"
            #EXT-X-MEDIA:TYPE=AUDIO,GROUP-ID="b",NAME="English",LANGUAGE="en",CHANNELS="2",URI="two.m3u8"
            #EXT-X-MEDIA:TYPE=AUDIO,GROUP-ID="b",NAME="Deutsch",LANGUAGE="de",CHANNELS="2",URI="de.m3u8"
            #EXT-X-STREAM-INF:BANDWIDTH=1000,AUDIO="a"
            v.m3u8
            """
        var resources = ["master.m3u8": master].mapValues { Array($0.utf8) }
        resources["v.m3u8"] = Array(rendition.replacingOccurrences(of: "s.aac", with: "s.ts").utf8)
        for name in ["six", "two", "de"] { resources["\(name).m3u8"] = Array(rendition.utf8) }
        resources["s.ts"] = try Self.bytes("ts-h264-aac.ts")
        resources["s.aac"] = try Self.bytes("packed.aac")
        let transport = TableTransport(Dictionary(uniqueKeysWithValues: resources.map { (base + $0.key, $0.value) }))
        let asset = Asset(urlString: base + "master.m3u8", options: .table(transport))
        let audio = try #require(try await asset.loadTracks(withMediaType: .audio).first)
        #expect(!transport.urls.contains(base + "two.m3u8"))
        let fallbacks = try await audio.loadAssociatedTracks(ofType: .audioFallback)
        #expect(fallbacks.map { $0.rendition?.groupID } == ["b"])
        #expect(fallbacks.first?.trackID ?? 0 > 1000)
        #expect(!transport.urls.contains(base + "de.m3u8"))
    }
}
