import HLSKitAsset
import HLSKitCodec
import HLSKitImaging
import HLSKitLoading
import HLSKitMedia
import HLSKitSimulation
import HLSKitTime
import TestSupport
import Testing

@Suite(.timeLimit(.minutes(10))) struct ImageGeneratorTests {
    private static func seconds(_ value: Double) -> MediaTime { MediaTime(seconds: value, preferredTimescale: 1000) }

    // MARK: L01

    @Test("L01: each requested time gets exactly one result, in order of time")
    func oneResultEach() async throws {
        let generator = SampleImages.generator(try SampleImages.transport())
        generator.maximumSize = PixelSize(width: 64, height: 0)
        let times = [MediaTime].seconds(17, 3, 3, 39.9) + [.invalid, .zero, .positiveInfinity, Self.seconds(90)]
        let results = await generator.collect(times)
        #expect(results.map(\.requestedTime) == times.sorted())
        #expect(results.map { $0.image != nil } == [true, true, true, true, true, true, false, false])
        #expect(results[6].error?.code == .notAvailable)
    }

    @Test("L01: an empty list of times makes no request and gives no result")
    func nothing() async throws {
        let transport = try SampleImages.transport()
        #expect(await SampleImages.generator(transport).collect([]).isEmpty)
        #expect(transport.requests.isEmpty)
    }

    @Test("L01: changing options later does not affect earlier requests")
    func frozenOptions() async throws {
        let generator = SampleImages.generator(try SampleImages.transport())
        generator.maximumSize = PixelSize(width: 80, height: 0)
        let images = generator.images(for: .seconds(1, 9))
        generator.maximumSize = PixelSize(width: 20, height: 0)
        for await result in images { #expect(result.image?.width == 80) }
        #expect(await generator.collect(.seconds(1)).first?.image?.width == 20)
    }

    @Test("L01: with tolerances only segment starts are loaded, each once")
    func requests() async throws {
        let transport = try SampleImages.transport()
        let generator = SampleImages.generator(transport)
        generator.maximumSize = PixelSize(width: 160, height: 0)
        let results = await generator.collect(.seconds(0, 0.5, 4.1, 4.2, 7.9, 20))
        #expect(results.allSatisfy { $0.image != nil })
        #expect(results.map { $0.actual?.seconds } == [0, 0, 4, 4, 8, 20])
        // Two playlists, the initialization section, four segments.
        #expect(transport.requests.count == 7)
        let loads = transport.urls.filter { $0.hasSuffix("video-180p.mp4") }
        #expect(loads.count == 5)
        _ = await generator.collect(.seconds(8))
        #expect(transport.requests.count == 8)
    }

    @Test("L01: all loads of a generator share its bandwidth limit")
    func rate() throws {
        func images(bytesPerSecond: Int?) throws -> (images: Int, time: Duration) {
            // The server has a link of 500 kB/s.
            let server = try SampleServer()
            let options = AssetOptions(clock: server.clock, transport: server.transport)
            let generator = ImageGenerator(asset: Asset(urlString: SampleServer.url, options: options))
            generator.maximumSize = PixelSize(width: 160, height: 0)
            generator.maximumBytesPerSecond = bytesPerSecond
            let count = try server.clock.run {
                await generator.collect(.seconds(0, 8, 16, 24, 32)).count { $0.image != nil }
            }
            return (count, server.clock.now.offset)
        }
        let free = try images(bytesPerSecond: nil)
        let slow = try images(bytesPerSecond: 5000)
        #expect(free.images == 5 && slow.images == 5)
        #expect(slow.time > free.time + .seconds(1))
    }

    @Test("L01: a segment that no variant can load fails only its own times")
    func failure() async throws {
        let transport = try SampleImages.transport { table in
            for name in ["180p", "360p", "540p"] {
                let bytes = table[SampleImages.base + "video-\(name).mp4"] ?? []
                table[SampleImages.base + "video-\(name).mp4"] = Array(bytes.prefix(bytes.count / 2))
            }
        }
        let generator = SampleImages.generator(transport)
        generator.setExact()
        let results = await generator.collect(.seconds(1, 9, 37))
        #expect(results.map { $0.image != nil } == [true, true, false])
        #expect(results[2].error != nil)
    }

    @Test("L01: a segment missing in one variant is loaded from another")
    func fallsBack() async throws {
        let transport = try SampleImages.transport { $0[SampleImages.base + "video-180p.m3u8"] = nil }
        let generator = SampleImages.generator(transport)
        generator.maximumSize = PixelSize(width: 100, height: 0)
        #expect(await generator.collect(.seconds(1)).first?.image?.width == 100)
        #expect(transport.urls.contains(SampleImages.base + "video-540p.m3u8") == false)
    }

    @Test("L01: cancelling all requests cancels the remaining times, but not later requests")
    func cancelAll() async throws {
        let transport = try SampleImages.transport()
        let generator = SampleImages.generator(transport)
        _ = try await generator.asset.load(.variants)
        var results: [ImageGenerationResult] = []
        for await result in generator.images(for: .seconds(1, 9, 17, 25)) {
            results.append(result)
            if results.count == 1 { generator.cancelAllImageGeneration() }
        }
        #expect(results.map(\.isCancelled) == [false, true, true, true])
        #expect(results.map(\.requestedTime) == .seconds(1, 9, 17, 25))
        #expect(await generator.collect(.seconds(1)).first?.image != nil)
    }

    @Test("L01: cancelling the task ends all its work, and each time is still reported")
    func cancelTask() async throws {
        let transport = try SampleImages.transport()
        let generator = SampleImages.generator(transport)
        _ = try await generator.asset.load(.duration)
        transport.hold()
        let count = transport.requests.count
        let task = Task { await generator.collect(.seconds(1, 9)) }
        await transport.waitForRequests(count + 1)
        task.cancel()
        let results = await task.value
        #expect(results.count == 2)
        #expect(results.map(\.isCancelled) == [true, true])
        while transport.cancelCount == 0 { await Task.yield() }
        transport.release()
    }

    @Test("L01: ending the iteration stops the work")
    func abandoned() async throws {
        let transport = try SampleImages.transport()
        let generator = SampleImages.generator(transport)
        for await result in generator.images(for: (0..<40).map { Self.seconds(Double($0)) }) {
            #expect(result.image != nil)
            break
        }
        #expect(transport.requests.count < 16)
    }

    // MARK: L02

    struct Size: Sendable, CustomStringConvertible {
        var limit: PixelSize
        var size: PixelSize
        var playlist: String
        var description: String { "\(limit.width)x\(limit.height)" }
    }

    @Test(
        "L02: images fit into the maximum size in their own shape, from the smallest sufficient variant",
        arguments: [
            Size(limit: .zero, size: PixelSize(width: 960, height: 540), playlist: "540p"),
            Size(
                limit: PixelSize(width: 200, height: 0), size: PixelSize(width: 200, height: 113), playlist: "180p"),
            Size(
                limit: PixelSize(width: 0, height: 200), size: PixelSize(width: 356, height: 200), playlist: "360p"),
            Size(
                limit: PixelSize(width: 64, height: 64), size: PixelSize(width: 64, height: 36), playlist: "180p"),
            Size(
                limit: PixelSize(width: 640, height: 640), size: PixelSize(width: 640, height: 360), playlist: "360p"),
            Size(
                limit: PixelSize(width: 4000, height: 0), size: PixelSize(width: 960, height: 540), playlist: "540p"),
        ])
    func size(_ c: Size) async throws {
        let transport = try SampleImages.transport()
        let generator = SampleImages.generator(transport)
        generator.maximumSize = c.limit
        let image = try await generator.image(at: Self.seconds(5)).image
        #expect(PixelSize(width: image.width, height: image.height) == c.size)
        #expect(transport.urls.dropFirst().first == SampleImages.base + "video-\(c.playlist).m3u8")
    }

    @Test("L02: with zero tolerance the image is the frame shown in playback", arguments: ["180p", "540p"])
    func exact(_ name: String) async throws {
        let frames = try SampleImages.frames(of: name)
        let track = try MP4InitializationSection(
            parsing: try SampleMedia.rendition("video-\(name)").initializationSection[...]
        ).tracks[0]
        let oracle = try SampleMedia.frameHashes(of: name)
        let generator = SampleImages.generator(
            try SampleImages.transport(), url: SampleImages.base + "video-\(name).m3u8")
        generator.setExact()
        let numbers = [0, 1, 49, 50, 98, 99, 100, 101, 523, 998, 999]
        for shift in [0, 39] {
            let times = numbers.map { MediaTime(value: Int64($0 * 40 + shift), timescale: 1000) }
            let results = await generator.collect(times)
            for (number, result) in zip(numbers, results) {
                let frame = frames[number]
                let hash = try hashes(of: [frame], track: track).first
                #expect(hash?.hasPrefix(oracle[number]) == true)
                #expect(result.actual == MediaTime(value: Int64(number), timescale: 25))
                let image = try StillImage(frame)
                let isSame = result.image == image
                #expect(isSame, "frame \(number)")
            }
        }
    }

    @Test("L02: with zero tolerance each segment is loaded once for all its times")
    func exactRequests() async throws {
        let transport = try SampleImages.transport()
        let generator = SampleImages.generator(transport, url: SampleImages.base + "video-180p.m3u8")
        generator.setExact()
        let results = await generator.collect(.seconds(0.2, 1, 2.6, 8.1, 9))
        #expect(results.allSatisfy { $0.image != nil })
        #expect(results.map { $0.actual?.seconds } == [0.2, 1, 2.6, 8.08, 9])
        #expect(transport.requests.count == 4)
    }

    struct Tolerance: Sendable, CustomStringConvertible {
        var before: Double
        var after: Double
        var time: Double
        var actual: Double
        var description: String { "-\(before)+\(after) at \(time)" }
    }

    @Test(
        "L02: the image lies within the tolerance, at the lowest cost",
        arguments: [
            Tolerance(before: 1, after: 0, time: 4.5, actual: 4),
            Tolerance(before: 0, after: 1, time: 3.5, actual: 4),
            Tolerance(before: 0.1, after: 0.1, time: 5, actual: 5),
            Tolerance(before: 0.1, after: 0.1, time: 8.05, actual: 8),
            Tolerance(before: .infinity, after: 0, time: 7.9, actual: 4),
        ])
    func tolerance(_ c: Tolerance) async throws {
        let generator = SampleImages.generator(try SampleImages.transport())
        generator.requestedTimeToleranceBefore = MediaTime(seconds: c.before, preferredTimescale: 1000)
        generator.requestedTimeToleranceAfter = MediaTime(seconds: c.after, preferredTimescale: 1000)
        let (_, actual) = try await generator.image(at: Self.seconds(c.time))
        #expect(actual.seconds == c.actual)
    }

    @Test("L02: times outside the stream get the nearest frame, or fail if the tolerance is too small")
    func outside() async throws {
        let generator = SampleImages.generator(try SampleImages.transport())
        let near = await generator.collect(.seconds(-3, 41))
        #expect(near.map { $0.actual?.seconds } == [0, 36])
        generator.setExact()
        let far = await generator.collect(.seconds(-3, 40.5, 41, 1000))
        #expect(far.map { $0.error?.code } == [.notAvailable, .notAvailable, .notAvailable, .notAvailable])
    }

    // MARK: L03

    @Test("L03: a single image is returned with its frame's time")
    func single() async throws {
        let generator = SampleImages.generator(try SampleImages.transport())
        let (image, actual) = try await generator.image(at: Self.seconds(12.5))
        #expect(actual == Self.seconds(12))
        #expect(image.pixels.count == image.width * image.height * 4)
        let isOpaque = stride(from: 3, to: image.pixels.count, by: 4).allSatisfy { image.pixels[$0] == 255 }
        #expect(isOpaque)
    }

    @Test("L03: a failed image throws an error with the reason")
    func thrown() async throws {
        let missing = SampleImages.generator(TableTransport([:]))
        let absence = await #expect(throws: HLSError.self) { try await missing.image(at: .zero) }
        #expect(absence?.code == .notFound)
        let audio = SampleImages.generator(
            try SampleImages.transport(), url: SampleImages.base + "audio-en.m3u8")
        let error = await #expect(throws: HLSError.self) { try await audio.image(at: .zero) }
        #expect(error?.cause == "the stream has no video")
        let generator = SampleImages.generator(try SampleImages.transport())
        await #expect(throws: HLSError.self) { try await generator.image(at: .indefinite) }
    }
}
