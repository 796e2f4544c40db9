import CardRules

/// Where the lanes lie in memory: a device has its place until it is gone for good.
extension Shard {
    func add(_ device: DeviceID, state: LaneState, generation: Generation) -> Int {
        let place = newPlace(of: device)
        lanes[place] = Lane(state: state, generation: generation, shard: self)
        return place
    }

    /// Without a lane.
    func newPlace(of device: DeviceID) -> Int {
        let place = freePlaces.popLast() ?? lanes.count
        if place == lanes.count {
            lanes.append(nil)
            devices.append(nil)
            deadlines.grow(to: lanes.count)
        }
        devices[place] = device
        places[device] = place
        return place
    }

    /// Nothing is owed by the device, and it has not come back meanwhile.
    func isStillToGo(_ erased: Outbox.Erased) async -> Bool {
        guard devices[erased.lane] == erased.device, let lane = standingOrFallen(erased.lane) else { return false }
        return await lane.isRemoved
    }

    /// The record is gone from the store: so is the lane, unless the device has come back meanwhile.
    func forget(_ erased: Outbox.Erased) async {
        let place = erased.lane
        guard devices[place] == erased.device, let lane = standingOrFallen(place) else { return }
        guard await lane.isRemoved else {
            outbox.gathering.lanes.insert(place)
            return
        }
        free(place, erased.device, lane)
        guard let gone = fallen.removeValue(forKey: erased.device) else { return }
        gone.whenWritten(false)
        for call in gone.calls { inbox.offerInternal(call) }
    }
}
