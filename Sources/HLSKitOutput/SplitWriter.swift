package import HLSKitLoading
package import HLSKitMedia
package import HLSKitTime
import Synchronization

/// Splits media into files of a maximum length or size. Each file begins at 0 with a sync frame, and audio goes to the
/// same file as the frames of its time.
///
/// Lengths are counted from the first file, so that files of an hour remain aligned to the clock. A file of a given
/// length is cut at the first sync frame after it. For a given size, it is cut before the size is likely to be
/// exceeded, as predicted from the last group of frames.
package final class SplitWriter: LeadInWriter, NumberedFiles, TrackAwaitingWriter {
    package enum Limit: Sendable, Hashable {
        /// The length in item time.
        case duration(MediaTime)
        /// The size in bytes of samples.
        case byteCount(Int)
    }

    package struct Part: Sendable {
        let sink: any SampleWriter
        let files: any NumberedFiles

        /// - Parameter clip: The writer that makes the file begin at 0, by default at its first sample.
        package init(_ writer: any SampleWriter & NumberedFiles, clip: ClipWriter? = nil) {
            sink = clip ?? ClipWriter(writer)
            files = writer
        }
    }

    package typealias Maker = @Sendable (_ number: Int) throws(HLSError) -> Part

    private struct Entry: Sendable {
        var sample: MediaSample
        var index: Int
        var time: MediaTime
    }

    private struct State {
        var tracks: [MediaTrack] = []
        var current: Part
        var number = 1
        /// The previous file, which still receives media from before the cut, and the time of the cut.
        var previous: Part?
        var cut = MediaTime.zero
        var passed: Set<Int> = []
        /// The time at which the next file begins, or `nil` before the first sample.
        var nextCut: MediaTime?
        var byteCount = 0
        /// The bytes since the last sync frame, and the bytes of the group of frames before it.
        var runByteCount = 0
        var lastRunByteCount = 0
        var time: MediaTime?
        var held: [Entry] = []
        var finished: [String] = []
        var begun: [String] = []
    }

    /// The time after which the previous file is closed, even if a track has no media after the cut.
    private static let patience = MediaTime(value: 60, timescale: 1)
    /// The maximum number of samples ahead of the video: several minutes of audio.
    private static let maximumHeldCount = 20_000

    package let mediaTypes: Set<MediaKind>
    private let limit: Limit
    private let firstLength: MediaTime?
    private let make: Maker
    private let first: any SampleWriter
    private let state: Mutex<State>

    /// - Parameter firstLength: The length of the first file, if files are cut by length, or `nil` for the same length.
    /// - Throws: An error if the first file cannot be created.
    package init(_ limit: Limit, firstLength: MediaTime? = nil, make: @escaping Maker) throws(HLSError) {
        self.limit = limit
        self.firstLength = firstLength
        self.make = make
        let first = try make(1)
        mediaTypes = first.sink.mediaTypes
        self.first = first.sink
        state = Mutex(State(current: first))
    }

    package var holdsTrackChanges: Bool { state.withLock { $0.current.sink.holdsTrackChanges } }
    package var isEmpty: Bool {
        state.withLock { $0.finished.isEmpty && $0.held.isEmpty && $0.previous == nil && $0.current.sink.isEmpty }
    }
    package var paths: [String] {
        state.withLock { state in
            state.begun + (state.previous?.files.paths ?? []) + state.current.files.paths
        }
    }
    package var finishedPaths: [String] { state.withLock { $0.finished } }
    /// The item time before which all media is in finished files, or `nil` if it is unknown.
    package var settledTime: MediaTime? { state.withLock { $0.previous == nil && $0.number > 1 ? $0.cut : nil } }

    /// The files after the first begin with the tracks of the earlier one.
    package func awaitTracks(of types: Set<MediaKind>) {
        (first as? any TrackAwaitingWriter)?.awaitTracks(of: types)
    }

    package func beginLeadIn(before start: MediaTime) { (first as? any LeadInWriter)?.beginLeadIn(before: start) }

    package func begin(_ tracks: [MediaTrack]) throws(HLSError) {
        try state.withLock { state throws(HLSError) in
            state.tracks = tracks
            try state.current.sink.begin(tracks)
        }
    }

    package func write(_ sample: MediaSample, ofTrackAt index: Int, at itemTime: MediaTime) throws(HLSError) {
        try state.withLock { state throws(HLSError) in
            let entry = Entry(sample: sample, index: index, time: itemTime)
            guard index == Self.decider(state.tracks) else {
                if state.held.count >= Self.maximumHeldCount { try release(&state, before: nil) }
                if let time = state.time, itemTime <= time { return try put(entry, &state) }
                state.held.append(entry)
                return
            }
            if sample.isSync, isCut(at: itemTime, &state) {
                try release(&state, before: itemTime)
                try beginPart(at: itemTime, &state)
            }
            if sample.isSync {
                state.lastRunByteCount = state.runByteCount
                state.runByteCount = 0
            }
            state.runByteCount += sample.data.count
            state.time = max(state.time ?? itemTime, itemTime)
            try putDeciding(entry, &state)
            try release(&state, before: state.time)
            if state.previous != nil, itemTime - state.cut > Self.patience { try finishPrevious(&state) }
        }
    }

    package func flush() throws(HLSError) {
        try state.withLock { state throws(HLSError) in
            try state.previous?.sink.flush()
            try state.current.sink.flush()
        }
    }

    package func finish() throws(HLSError) {
        try state.withLock { state throws(HLSError) in
            try release(&state, before: nil)
            try finishPrevious(&state)
            try state.current.sink.finish()
            state.finished += state.current.files.finishedPaths
        }
    }

    // MARK: Cutting

    /// The index of the track whose samples determine cuts: the video track or, without video, the first track.
    private static func decider(_ tracks: [MediaTrack]) -> Int { tracks.firstIndex { $0.mediaType == .video } ?? 0 }

    private func isCut(at time: MediaTime, _ state: inout State) -> Bool {
        switch limit {
        case .duration(let length):
            guard let next = state.nextCut else {
                state.nextCut = time + (firstLength ?? length)
                return false
            }
            guard time >= next else { return false }
            var following = next
            while following <= time { following = following + length }
            state.nextCut = following
            return true
        case .byteCount(let limit):
            return state.byteCount > 0 && state.byteCount + max(state.runByteCount, state.lastRunByteCount) > limit
        }
    }

    private func beginPart(at time: MediaTime, _ state: inout State) throws(HLSError) {
        try finishPrevious(&state)
        let next = try make(state.number + 1)
        (next.files as? Remuxer)?.continueFile()
        state.number += 1
        state.previous = state.current
        state.current = next
        state.cut = time
        state.passed = []
        state.byteCount = 0
        try next.sink.begin(state.tracks)
        // A single track has no media before the cut.
        if state.tracks.count < 2 { try finishPrevious(&state) }
    }

    private func finishPrevious(_ state: inout State) throws(HLSError) {
        guard let previous = state.previous else { return }
        state.previous = nil
        state.begun += previous.files.paths
        try previous.sink.finish()
        state.finished += previous.files.finishedPaths
    }

    // MARK: Writing

    private func putDeciding(_ entry: Entry, _ state: inout State) throws(HLSError) {
        state.byteCount += entry.sample.data.count
        try state.current.sink.write(entry.sample, ofTrackAt: entry.index, at: entry.time)
    }

    private func put(_ entry: Entry, _ state: inout State) throws(HLSError) {
        guard let previous = state.previous else { return try putDeciding(entry, &state) }
        if entry.time < state.cut {
            return try previous.sink.write(entry.sample, ofTrackAt: entry.index, at: entry.time)
        }
        try putDeciding(entry, &state)
        state.passed.insert(entry.index)
        if state.passed.count >= state.tracks.count - 1 { try finishPrevious(&state) }
    }

    private func release(_ state: inout State, before time: MediaTime?) throws(HLSError) {
        guard !state.held.isEmpty else { return }
        let held = state.held
        state.held = []
        for entry in held {
            if let time, entry.time >= time { state.held.append(entry) } else { try put(entry, &state) }
        }
    }
}
