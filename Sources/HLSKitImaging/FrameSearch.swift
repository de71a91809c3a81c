import HLSKitCodec
import HLSKitEngine
import HLSKitLoading
import HLSKitMedia
import HLSKitPlayback
import HLSKitPlaylist

struct FrameSearch {
    let store: FrameStore
    let source: FrameSource
    let options: ImageOptions
    let found: (RequestedImage, Frame) async throws -> Void

    /// The number of segments to search in each direction, including the one that should contain the frame.
    private static let maximumSegmentCount = 4

    // MARK: Heads

    /// Uses the first sync frame of a segment for all times whose tolerance allows it. Returns the other times.
    func takeHead(of index: Int, for requests: [RequestedImage]) async throws -> [RequestedImage] {
        var result: Frame?
        var timeline = ItemTimeline()
        var placement: ItemTimeline.Placement?
        try await store.read(index, of: source, .head) { output, reader in
            if let (pts, track) = output.first { placement = place(pts, track, in: index, &timeline) }
            guard let track = reader.track, let placement,
                let sample = output.samples.first(where: { $0.isSync || source.kind == .iFrames })
            else { return false }
            let start = try await complete(sample, of: track, in: index)
            result = try FrameDecoding.single(
                start.shifted(by: placement.shift), of: track, offset: placement.offset)
            return true
        }
        guard let frame = result else { throw CodecError.noFrame }
        var rest: [RequestedImage] = []
        for request in requests {
            if options.allows(frame.time, for: request.time) || source.kind == .iFrames {
                try await found(request, frame)
            } else {
                rest.append(request)
            }
        }
        return rest
    }

    private func complete(_ sample: MediaSample, of track: MediaTrack, in segment: Int) async throws -> MediaSample {
        guard PictureParameterSets.areMissing(in: sample, of: track) else { return sample }
        return PictureParameterSets.prepend(try await store.parameterSets(of: segment, in: source), to: sample)
    }

    private func place(
        _ pts: Int64, _ track: MediaTrack, in index: Int, _ timeline: inout ItemTimeline
    ) -> ItemTimeline.Placement {
        timeline.placement(
            for: source.playlist.segments[index].discontinuitySequence, lane: .main, firstPTS: pts, track: track,
            segmentStart: source.starts[index])
    }

    // MARK: Exact

    /// Finds the frames for times in or near one segment. If a frame is in a neighbouring segment, it continues there.
    ///
    /// - Parameter wishes: The requested times, in ascending order.
    func find(_ requests: [RequestedImage], from index: Int, stepsBack: Int = 0) async throws {
        var finder = FrameFinder(requests)
        var state = Reading()
        var tooEarly: [RequestedImage] = []
        let canStepBack =
            index > 0 && stepsBack < Self.maximumSegmentCount && !source.playlist.segments[index - 1].isGap
        for step in 0..<Self.maximumSegmentCount {
            let segment = index + step
            guard segment < source.segmentCount, !finder.isDone, continues(from: index, to: segment) else { break }
            do {
                try await store.read(segment, of: source, step == 0 ? .all : .head) { output, reader in
                    try await enter(segment, output, &state)
                    state.track = reader.track ?? state.track
                    guard let placement = state.placement else { return false }
                    for sample in output.samples {
                        let placed = placed(sample, placement, reader.track)
                        guard let find = try finder.take(placed) else { continue }
                        tooEarly += try await take(find, state, mayWait: canStepBack)
                    }
                    return finder.isDone
                }
            } catch let error as HLSError where step > 0 {
                // Later segments would only show that there is no better frame.
                _ = error
                break
            }
            if finder.isDone { break }
        }
        if let find = finder.finish() { tooEarly += try await take(find, state, mayWait: canStepBack) }
        let missing = finder.open
        if !missing.isEmpty {
            guard canStepBack else { throw CodecError.noFrame }
            tooEarly += missing
        }
        if !tooEarly.isEmpty { try await self.find(tooEarly, from: index - 1, stepsBack: stepsBack + 1) }
    }

    private struct Reading {
        var timeline: ItemTimeline?
        var segment: Int?
        var placement: ItemTimeline.Placement?
        var track: MediaTrack?
    }

    private func continues(from index: Int, to segment: Int) -> Bool {
        guard segment > index else { return true }
        let segments = source.playlist.segments
        return !segments[segment].isGap
            && segments[segment].discontinuitySequence == segments[index].discontinuitySequence
    }

    private func enter(_ segment: Int, _ output: FrameReader.Output, _ state: inout Reading) async throws {
        guard let (pts, track) = output.first, state.segment != segment else { return }
        state.segment = segment
        if state.timeline == nil {
            // A time from the start of the item needs no other segment.
            var timeline = ItemTimeline()
            let own = place(pts, track, in: segment, &timeline)
            let isAnchored = !track.wrapsAt33Bits && own.offset == .zero
            state.timeline = isAnchored ? timeline : try await store.timeline(of: segment, in: source)
        }
        var timeline = state.timeline ?? ItemTimeline()
        state.placement = place(pts, track, in: segment, &timeline)
        state.timeline = timeline
    }

    private func placed(
        _ sample: MediaSample, _ placement: ItemTimeline.Placement, _ track: MediaTrack?
    ) -> FrameFinder.Placed {
        let sample = sample.shifted(by: placement.shift)
        let timescale = track?.timescale ?? 1
        return FrameFinder.Placed(
            sample: sample,
            pts: (ItemTimeline.duration(sample.pts, timescale) + placement.offset).roundedDownToNanoseconds,
            dts: ItemTimeline.duration(sample.dts, timescale) + placement.offset)
    }

    /// Decodes a find. Returns the times whose frame is before it.
    private func take(
        _ find: FrameFinder.Find, _ state: Reading, mayWait: Bool
    ) async throws -> [RequestedImage] {
        guard let track = state.track, let placement = state.placement, let segment = state.segment,
            var first = find.samples.first
        else { return [] }
        var find = find
        first.sample = try await complete(first.sample, of: track, in: segment)
        find.samples[0] = first
        var exact = FrameFinder.Find(samples: find.samples, requests: [])
        var cheap: [RequestedImage] = []
        var earlier: [RequestedImage] = []
        for request in find.requests {
            if request.time < find.start, mayWait {
                earlier.append(request)
            } else if !options.isExact, options.allows(find.start, for: request.time) {
                cheap.append(request)
            } else {
                exact.requests.append(request)
            }
        }
        if !cheap.isEmpty {
            if let frame = try FrameDecoding.single(first.sample, of: track, offset: placement.offset) {
                for request in cheap { try await found(request, frame) }
            } else {
                exact.requests = (exact.requests + cheap).sorted { $0.time < $1.time }
            }
        }
        if !exact.requests.isEmpty {
            try await FrameDecoding.frames(of: exact, track: track, offset: placement.offset) { request, frame in
                try await found(request, frame)
            }
        }
        return earlier
    }
}

extension MediaSample {
    func shifted(by shift: Int64) -> MediaSample {
        guard shift != 0 else { return self }
        var sample = self
        sample.pts = pts.addingReportingOverflow(shift).partialValue
        sample.dts = dts.addingReportingOverflow(shift).partialValue
        return sample
    }
}
