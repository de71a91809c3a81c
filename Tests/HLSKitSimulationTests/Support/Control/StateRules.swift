import HLSKitLoading
import HLSKitTime
import Synchronization

@testable import HLSKitEngine
@testable import HLSKitPlayback

/// Rules that a player must satisfy at all times.
enum StateRules {
    static func violations(of player: Player) -> [String] {
        let core = player.core
        let now = core.clock.now
        return core.state.withLock { state in
            Checker(
                state: state.current.snapshot(at: now), engine: state.current.engine, hasItem: state.current.item != nil
            ).violations
        }
    }

    private struct Checker {
        let state: PlayerState
        let engine: PlaybackEngine
        let hasItem: Bool

        /// How far media may exceed its duration in the playlist, in seconds.
        private static let excess = 0.1

        var violations: [String] {
            var found: [String] = []
            func require(_ isTrue: Bool, _ text: @autoclosure () -> String) {
                if !isTrue { found.append(text()) }
            }
            let machine = engine.machine
            let isWaiting = state.timeControlStatus == .waitingToPlayAtSpecifiedRate
            let isPlaying = state.timeControlStatus == .playing
            // docs/reference/playback.md, "Invariants".
            require((state.reasonForWaitingToPlay != nil) == isWaiting, "a reason is for waiting")
            require((state.rate == 0) == (state.timeControlStatus == .paused), "paused is rate 0")
            require(!isPlaying || state.itemStatus == .readyToPlay, "playing an item that is \(state.itemStatus)")
            require(isPlaying || state.timebaseRate == 0, "time runs while \(state.timeControlStatus)")
            require(!isPlaying || machine.isSeekPending || state.timebaseRate != 0, "playing while time stands")
            require(!isPlaying || machine.isSeekPending || machine.buffer?.isEmpty != true, "playing from nothing")
            require(
                machine.automaticallyWaits || state.reasonForWaitingToPlay != .toMinimizeStalls,
                "waits to minimize stalls while it does not wait by itself")
            require(
                (state.reasonForWaitingToPlay == .noItemToPlay) == (isWaiting && !hasItem), "waits for an item")
            // Time starts when the first frame is decoded. Until then, time control sees an empty buffer.
            let couldPlay =
                state.itemStatus == .readyToPlay && state.isPlaybackBufferFull && machine.buffer?.isEmpty == false
            require(!(isWaiting && couldPlay) || machine.isSeekPending, "waits with a full buffer")
            require(hasItem == (state.currentItemID != nil), "the state has the item")
            require((state.itemStatus == .failed) == (engine.item?.error != nil), "an error is for failed items")
            found += timeViolations
            return found.map { "\($0): \(description)" }
        }

        private var timeViolations: [String] {
            var found: [String] = []
            func require(_ isTrue: Bool, _ text: @autoclosure () -> String) {
                if !isTrue { found.append(text()) }
            }
            let time = state.currentTime
            require(time.isNumeric && time >= .zero, "the time is \(time.seconds)")
            for range in state.loadedTimeRanges {
                require(range.isValid && !range.isEmpty && range.start >= .zero, "a loaded range \(range)")
            }
            for (one, next) in zip(state.loadedTimeRanges, state.loadedTimeRanges.dropFirst()) {
                require(one.end <= next.start, "loaded ranges overlap")
            }
            if let seekable = state.seekableTimeRanges.last {
                let end = max(seekable.end.seconds, state.duration.isNumeric ? state.duration.seconds : 0)
                // Time that has run past the end stays behind it if the rate changes its sign, which ends being at the end.
                let isPastEnd = engine.machine.actionAtItemEnd == .none
                require(
                    isPastEnd || time.seconds <= end + Self.excess, "the time is behind what can be sought, \(end)")
                for range in state.loadedTimeRanges {
                    require(range.end.seconds <= end + 1, "loaded to \(range.end.seconds), behind \(end)")
                }
            }
            return found
        }

        private var description: String {
            var text = "\(state.timeControlStatus) \(state.reasonForWaitingToPlay.map { "(\($0)) " } ?? "")"
            text += "rate \(state.rate), time \(state.currentTime.seconds) at \(state.timebaseRate), "
            text +=
                "item \(state.itemStatus), seeking \(engine.machine.isSeekPending), at end \(engine.machine.isAtEnd)"
            text += ", full \(state.isPlaybackBufferFull), empty \(state.isPlaybackBufferEmpty)"
            text += ", likely \(state.isPlaybackLikelyToKeepUp), waits \(engine.machine.automaticallyWaits)"
            text += ", at its end \(engine.machine.actionAtItemEnd), duration \(state.duration.seconds)"
            text += ", loaded \(state.loadedTimeRanges.map { "\($0.start.seconds)-\($0.end.seconds)" })"
            return text
        }
    }
}
